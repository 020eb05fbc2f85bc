#include "engine/token_trie.h"

#include <algorithm>

namespace mummu {

TokenTrie::TokenTrie(std::vector<std::pair<std::string_view, TokenId>> tokens) {
  std::sort(tokens.begin(), tokens.end());
  nodes_.clear();
  tokens_.reserve(tokens.size());
  std::vector<uint32_t> path;  // the nodes of the token before
  std::string_view before;
  const auto close_to = [&](size_t depth) {
    for (; path.size() > depth; path.pop_back())
      nodes_[path.back()].end = static_cast<uint32_t>(nodes_.size());
  };
  for (const auto& [bytes, id] : tokens) {
    const auto differs = std::mismatch(before.begin(), before.end(), bytes.begin(), bytes.end());
    close_to(static_cast<size_t>(differs.first - before.begin()));
    while (path.size() < bytes.size()) {
      const auto byte = static_cast<uint8_t>(bytes[path.size()]);
      path.push_back(static_cast<uint32_t>(nodes_.size()));
      nodes_.push_back({.first_token = static_cast<uint32_t>(tokens_.size()),
                        .depth = static_cast<uint16_t>(path.size()),
                        .byte = byte});
    }
    tokens_.push_back(id);
    before = bytes;
    longest_ = std::max(longest_, static_cast<uint32_t>(bytes.size()));
  }
  close_to(0);
  nodes_.push_back({.end = static_cast<uint32_t>(nodes_.size()),
                    .first_token = static_cast<uint32_t>(tokens_.size())});
}

}  // namespace mummu
