#include "text/jinja/text.h"

#include <algorithm>

#include "base/fail.h"
#include "text/jinja/heap.h"

namespace mummu::jinja {

Text::Text(std::string bytes, std::vector<LevelRun> runs) : bytes_(std::move(bytes)) {
  if (runs.size() == 1) {
    level_ = runs.front().level;
  } else {
    runs_ = std::move(runs);
  }
}

size_t Text::run_at(size_t byte) const {
  const auto ends_after = [](size_t at, const LevelRun& run) { return at < run.end; };
  return static_cast<size_t>(std::upper_bound(runs_.begin(), runs_.end(), byte, ends_after) -
                             runs_.begin());
}

Level Text::level_at(size_t byte) const {
  return runs_.empty() ? level_ : runs_[run_at(byte)].level;
}

Level Text::highest() const {
  if (bytes_.empty()) return Level::templ;
  Level level = runs_.empty() ? level_ : Level::templ;
  for (const LevelRun& run : runs_) level = std::max(level, run.level);
  return level;
}

TextBuilder::~TextBuilder() { heap_->release(charged_); }

bool TextBuilder::grow(size_t more) {
  const size_t size = bytes_.size() + more;
  if (failed_ || size > kMaxText) return !(failed_ = true);
  if (size > bytes_.capacity()) {
    const size_t capacity = std::min(kMaxText, std::max(size, 2 * bytes_.capacity()));
    const size_t charge = capacity + runs_.capacity() * sizeof(LevelRun);
    if (!heap_->has_room(charge - std::min(charge, charged_))) return !(failed_ = true);
    bytes_.reserve(capacity);
  }
  const size_t now = bytes_.capacity() + runs_.capacity() * sizeof(LevelRun);
  if (now > charged_) {
    heap_->charge(now - charged_);
    charged_ = now;
  }
  return true;
}

void TextBuilder::add(std::string_view bytes, Level level) {
  if (bytes.empty() || !grow(bytes.size())) return;
  bytes_ += bytes;
  const auto end = static_cast<uint32_t>(bytes_.size());
  if (!runs_.empty() && runs_.back().level == level) {
    runs_.back().end = end;
    return;
  }
  if (runs_.size() == runs_.capacity() && !heap_->has_room(runs_.size() * sizeof(LevelRun))) {
    failed_ = true;
    return;
  }
  runs_.push_back({end, level});
}

void TextBuilder::add(const Text& text, size_t from, size_t to) {
  text.for_runs(from, to, [this](std::string_view bytes, Level level) { add(bytes, level); });
}

void TextBuilder::repeat(std::string_view bytes, Level level, int64_t count) {
  for (int64_t i = 0; i < count && !failed_; ++i) add(bytes, level);
}

Result<Text> TextBuilder::finish() {
  if (failed_ && bytes_.size() + 1 < kMaxText && !heap_->has_room(kMaxText)) {
    return fail(Error::invalid, "values of more than {} MiB", Heap::kMaxLive >> 20);
  }
  if (failed_) return fail(Error::invalid, "a text of more than {} MiB", kMaxText >> 20);
  MUMMU_TRY(heap_->work(bytes_.size()));
  heap_->release(charged_);
  charged_ = 0;
  return Text(std::move(bytes_), std::move(runs_));
}

}  // namespace mummu::jinja
