#pragma once

// Text whose every byte knows its level: where it came from (Level in mummu/chat.h). A Text is
// valid UTF-8 and at most kMaxText long; its runs end on code points. A TextBuilder concatenates;
// it belongs to one Heap, whose bounds it keeps.
//
// How levels go through a template. Its source, its literals, the checkpoint's tokens, numbers,
// True and None are 0. Whatever joins (+ ~ *, output, macros, blocks, join, {} of format, indent)
// keeps the level of each part; whatever cuts (slices, iteration, strip, split) keeps those of the
// piece; replace keeps what stays and inserts at the level of the argument; case changes and
// escapes have the level of their character. Where nobody can say (%, padding, format specs,
// replace of ''), the whole result has the highest level among all inputs. Equality, order and
// lookup see no levels.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mummu/chat.h"
#include "mummu/result.h"

namespace mummu::jinja {

class Heap;

constexpr size_t kMaxText = size_t{8} << 20;  // bytes of one string, the output included

// Bytes up to `end` (from the end of the run before) are of one level.
struct LevelRun {
  uint32_t end = 0;
  Level level = Level::templ;
};

class Text {
 public:
  Text() = default;
  Text(std::string bytes, Level level) : bytes_(std::move(bytes)), level_(level) {}
  Text(std::string bytes, std::vector<LevelRun> runs);

  std::string_view view() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }

  // The runs between two byte offsets, as views of the text.
  template <typename F>
  void for_runs(size_t from, size_t to, F&& take) const;

  // Makes all of it one level: for text from outside, before a template sees it.
  void set_level(Level level) {
    runs_.clear();
    level_ = level;
  }

  Level level_at(size_t byte) const;
  Level highest() const;
  size_t run_count() const { return runs_.empty() ? 1 : runs_.size(); }
  size_t heap_bytes() const { return bytes_.capacity() + runs_.capacity() * sizeof(LevelRun); }

 private:
  friend class TextBuilder;
  size_t run_at(size_t byte) const;

  std::string bytes_;
  std::vector<LevelRun> runs_;  // empty: the whole text is of level_
  Level level_ = Level::templ;
};

// Collects a Text. Once it would pass a bound of its heap it takes nothing more, and finish() is
// the error.
class TextBuilder {
 public:
  explicit TextBuilder(Heap& heap) : heap_(&heap) {}
  TextBuilder(const TextBuilder&) = delete;
  TextBuilder& operator=(const TextBuilder&) = delete;
  ~TextBuilder();

  void add(std::string_view bytes, Level level);
  void add(const Text& text) { add(text, 0, text.size()); }
  void add(const Text& text, size_t from, size_t to);
  void repeat(std::string_view bytes, Level level, int64_t count);

  size_t size() const { return bytes_.size(); }
  bool failed() const { return failed_; }

  //   errors   invalid (longer than kMaxText, or the heap is full)
  Result<Text> finish();

 private:
  bool grow(size_t more);

  Heap* heap_;
  std::string bytes_;
  std::vector<LevelRun> runs_;
  size_t charged_ = 0;
  bool failed_ = false;
};

template <typename F>
void Text::for_runs(size_t from, size_t to, F&& take) const {
  const std::string_view all = bytes_;
  if (from >= to) return;
  if (runs_.empty()) {
    take(all.substr(from, to - from), level_);
    return;
  }
  for (size_t i = run_at(from); from < to; ++i) {
    const size_t end = runs_[i].end < to ? runs_[i].end : to;
    take(all.substr(from, end - from), runs_[i].level);
    from = end;
  }
}

}  // namespace mummu::jinja
