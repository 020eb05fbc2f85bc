#include "engine/json_masks.h"

#include <algorithm>

namespace mummu {
namespace {

size_t words_for(int64_t vocab) { return static_cast<size_t>((vocab + 63) / 64); }

}  // namespace

JsonMasks::JsonMasks(std::vector<std::pair<std::string_view, TokenId>> tokens, int64_t vocab)
    : trie_(std::move(tokens)) {
  for (size_t place = 0; place < static_cast<size_t>(JsonPlace::count); ++place) {
    JsonState state{.place = static_cast<JsonPlace>(place)};
    for (const bool in_key : {false, true}) {
      if (in_key && state.place < JsonPlace::string) continue;
      state.in_key = in_key;
      classes_[class_of(state)] = make_class(state, vocab);
    }
  }
}

// Walks all tokens from one place.
JsonMasks::Class JsonMasks::make_class(const JsonState& state, int64_t vocab) const {
  Class made;
  made.allowed.resize(words_for(vocab));
  for (const TokenId id : trie_.tokens(0, trie_.nodes()))
    made.allowed[static_cast<size_t>(id / 64)] |= uint64_t{1} << (id % 64);
  std::vector<JsonState> behind(longest() + 1, state);
  for (uint32_t node = 0; node < trie_.nodes();) {
    const uint32_t depth = trie_.depth(node);
    const JsonState& parent = behind[depth - 1];
    JsonState next = parent;
    next.depth = 1;  // something to close; which it is does not matter
    const JsonStep step = json_step(next, trie_.byte(node));
    next.depth = 0;
    if (step.by_context) {
      made.open.push_back({node, parent.place, parent.in_key, parent.run});
      node = trie_.end(node);
    } else if (!step.allowed) {
      clear(node, trie_.end(node), made.allowed);
      node = trie_.end(node);
    } else {
      behind[depth] = next;
      ++node;
    }
  }
  return made;
}

void JsonMasks::clear(uint32_t first, uint32_t last, std::span<uint64_t> allowed) const {
  for (const TokenId id : trie_.tokens(first, last))
    allowed[static_cast<size_t>(id / 64)] &= ~(uint64_t{1} << (id % 64));
}

void JsonMasks::mask(const JsonState& state, std::span<uint64_t> allowed,
                     std::span<JsonState> scratch) const {
  const Class& at = classes_[class_of(state)];
  const size_t words = std::min(allowed.size(), at.allowed.size());
  for (size_t i = 0; i < words; ++i) allowed[i] &= at.allowed[i];
  std::fill(allowed.begin() + static_cast<std::ptrdiff_t>(words), allowed.end(), 0);
  for (const Open& open : at.open) mask_subtree(open, state, allowed, scratch);
}

void JsonMasks::mask_subtree(const Open& open, JsonState state, std::span<uint64_t> allowed,
                             std::span<JsonState> scratch) const {
  const uint32_t above = trie_.depth(open.node) - 1;
  state.place = open.place;
  state.in_key = open.in_key;
  if (above > 0) state.run = open.run;
  const uint32_t end = trie_.end(open.node);
  for (uint32_t node = open.node; node < end;) {
    const uint32_t depth = trie_.depth(node) - above;
    JsonState next = depth == 1 ? state : scratch[depth - 2];
    if (json_step(next, trie_.byte(node)).allowed) {
      scratch[depth - 1] = next;
      ++node;
    } else {
      clear(node, trie_.end(node), allowed);
      node = trie_.end(node);
    }
  }
}

}  // namespace mummu
