#pragma once

// The bytes of every token of a vocabulary as a tree whose nodes stand in preorder: a walk is a
// loop, and leaving a subtree out is a jump. Immutable after it is built; any thread.

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "mummu/tokenizer.h"

namespace mummu {

class TokenTrie {
 public:
  TokenTrie() = default;
  // The bytes are only read here; none empty, of at most 65,535 bytes each.
  explicit TokenTrie(std::vector<std::pair<std::string_view, TokenId>> tokens);

  uint32_t nodes() const { return static_cast<uint32_t>(nodes_.size()) - 1; }
  uint8_t byte(uint32_t node) const { return nodes_[node].byte; }
  // Bytes from the root to a node, its own included.
  uint32_t depth(uint32_t node) const { return nodes_[node].depth; }
  // Where the subtree of a node ends: it is [node, end).
  uint32_t end(uint32_t node) const { return nodes_[node].end; }
  // The tokens of the nodes [first, last).
  std::span<const TokenId> tokens(uint32_t first, uint32_t last) const {
    const size_t begin = nodes_[first].first_token;
    return std::span(tokens_).subspan(begin, nodes_[last].first_token - begin);
  }
  uint32_t longest() const { return longest_; }  // bytes

 private:
  struct Node {
    uint32_t end = 0;
    uint32_t first_token = 0;
    uint16_t depth = 0;
    uint8_t byte = 0;
  };

  std::vector<Node> nodes_ = std::vector<Node>(1);  // and one behind the last
  std::vector<TokenId> tokens_;                     // in the order of the nodes
  uint32_t longest_ = 0;
};

}  // namespace mummu
