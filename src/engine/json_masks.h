#pragma once

// Which tokens may come next in a JSON object, for every place that its text can be at. Most tokens
// are decided by the place alone, once; the few that also depend on what is open, or on a count,
// are walked when they are asked for. Immutable after it is built; any thread.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/json_machine.h"
#include "engine/token_trie.h"

namespace mummu {

class JsonMasks {
 public:
  // Tokens and their bytes, which are only read here; what is not among them is never allowed.
  JsonMasks(std::vector<std::pair<std::string_view, TokenId>> tokens, int64_t vocab);

  // Clears the bit of every token that may not come next.
  //   requires  scratch of at least longest() states
  void mask(const JsonState& state, std::span<uint64_t> allowed,
            std::span<JsonState> scratch) const;
  size_t longest() const { return trie_.longest(); }  // bytes of a token

 private:
  // A subtree that is decided by the context, and the place that its parent leads to.
  struct Open {
    uint32_t node;
    JsonPlace place;
    bool in_key;
    uint8_t run;  // where the parent is not the root
  };
  struct Class {
    std::vector<uint64_t> allowed;  // not refused by the place alone
    std::vector<Open> open;
  };
  static constexpr size_t kClasses = 2 * static_cast<size_t>(JsonPlace::count);

  static size_t class_of(const JsonState& state) {
    return 2 * static_cast<size_t>(state.place) + (state.in_key ? 1 : 0);
  }
  Class make_class(const JsonState& state, int64_t vocab) const;
  void mask_subtree(const Open& open, JsonState state, std::span<uint64_t> allowed,
                    std::span<JsonState> scratch) const;
  void clear(uint32_t first, uint32_t last, std::span<uint64_t> allowed) const;

  TokenTrie trie_;
  std::array<Class, kClasses> classes_;
};

}  // namespace mummu
