#include "text/byte_trie.h"

#include <numeric>

namespace mummu {

// Breadth first from the sorted texts: a node is a range of texts that begin alike.
ByteTrie::ByteTrie(const std::vector<std::string_view>& texts) {
  struct Range {
    size_t begin, end, depth;
  };
  std::vector<int32_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0);
  const auto text = [&](size_t i) { return texts[static_cast<size_t>(order[i])]; };
  std::ranges::sort(order, [&](int32_t a, int32_t b) {
    const int compared = texts[static_cast<size_t>(a)].compare(texts[static_cast<size_t>(b)]);
    return compared != 0 ? compared < 0 : a < b;
  });
  std::vector<Range> ranges{{0, order.size(), 0}};
  for (size_t n = 0; n < ranges.size(); ++n) {
    auto [begin, end, depth] = ranges[n];
    for (; begin < end && text(begin).size() == depth; ++begin)
      if (nodes_[n].text < 0 && depth > 0) nodes_[n].text = order[begin];
    nodes_[n].first_edge = static_cast<uint32_t>(edges_.size());
    while (begin < end) {
      const char byte = text(begin)[depth];
      size_t next = begin;
      while (next < end && text(next)[depth] == byte) ++next;
      edges_.push_back({static_cast<unsigned char>(byte), static_cast<uint32_t>(nodes_.size())});
      ++nodes_[n].edges;
      nodes_.emplace_back();
      ranges.push_back({begin, next, depth + 1});
      begin = next;
    }
  }
}

}  // namespace mummu
