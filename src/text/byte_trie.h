#pragma once

// Which of many texts a place in a text begins with. Immutable after it is built; any thread.

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mummu {

class ByteTrie {
 public:
  ByteTrie() = default;
  // The texts are only read here. Of two that are equal the first counts; empty ones are never
  // found.
  explicit ByteTrie(const std::vector<std::string_view>& texts);

  // Calls found(number of the text, where it ends) for each text that stands at a byte, shortest
  // first.
  template <typename F>
  void prefixes(std::string_view text, size_t at, const F& found) const {
    const Node* node = nodes_.data();
    while (at < text.size()) {
      const Edge* next = edge(*node, static_cast<unsigned char>(text[at]));
      if (next == nullptr) return;
      ++at;
      node = &nodes_[next->node];
      if (node->text >= 0) found(node->text, at);
    }
  }

 private:
  struct Node {
    uint32_t first_edge = 0, edges = 0;
    int32_t text = -1;
  };
  struct Edge {
    unsigned char byte;
    uint32_t node;
  };

  const Edge* edge(const Node& node, unsigned char byte) const {
    const Edge* begin = edges_.data() + node.first_edge;
    const Edge* end = begin + node.edges;
    const Edge* at = std::ranges::lower_bound(begin, end, byte, {}, &Edge::byte);
    return at != end && at->byte == byte ? at : nullptr;
  }

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::vector<Edge> edges_;
};

}  // namespace mummu
