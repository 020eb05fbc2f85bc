#include <algorithm>

#include "mummu/tokenizer.h"
#include "text/tokenizer_impl.h"
#include "text/utf8.h"

namespace mummu {
namespace {

// Bytes of a code point that is not complete, at most.
constexpr size_t kLongestTail = 3;

}  // namespace

// All memory is taken here, so that push needs none: every byte may become U+FFFD, which has three.
StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, bool skip_special)
    : tokenizer_(&tokenizer), skip_special_(skip_special) {
  const size_t longest = tokenizer.impl().decoder.longest() + kLongestTail;
  pending_.reserve(longest);
  out_.reserve(longest * kReplacement.size());
}

std::string_view StreamDecoder::push(TokenId id) {
  out_.clear();
  if (id < 0 || id >= tokenizer_->vocab()) return out_;
  if (skip_special_ && tokenizer_->is_special(id)) return out_;
  const TextDecoder& decoder = tokenizer_->impl().decoder;
  std::string_view bytes = decoder.bytes(id, first_);
  first_ = false;
  // The front of the whole text is dropped as far as the decoder says, over as many tokens as it
  // takes.
  const TextDecoder::Front& front = decoder.front();
  while (front_dropped_ < front.count && bytes.starts_with(front.text)) {
    bytes.remove_prefix(front.text.size());
    ++front_dropped_;
  }
  if (!bytes.empty()) front_dropped_ = front.count;
  pending_ += bytes;
  take_complete();
  return out_;
}

std::string_view StreamDecoder::finish() {
  out_.clear();
  if (!pending_.empty()) out_ = kReplacement;
  pending_.clear();
  return out_;
}

// Moves what is complete from pending_ to out_, invalid bytes as U+FFFD.
void StreamDecoder::take_complete() {
  size_t at = 0;
  while (at < pending_.size()) {
    const Utf8Step step = utf8_step(std::string_view(pending_).substr(at));
    if (step.kind == Utf8Step::Kind::incomplete) break;
    const auto size = static_cast<size_t>(step.size);
    if (step.kind == Utf8Step::Kind::valid) {
      out_.append(pending_, at, size);
    } else {
      out_ += kReplacement;
    }
    at += size;
  }
  pending_.erase(0, at);
}

}  // namespace mummu
