#include "text/added_matcher.h"

#include <algorithm>
#include <numeric>

#include "text/control_token.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mummu {
namespace {

bool is_word_at(std::string_view text, size_t at) {
  return at < text.size() && unicode_is(code_point_at(text, at).value, unicode::kWord);
}
bool is_word_before(std::string_view text, size_t end) {
  return end > 0 && is_word_at(text, code_point_before(text, end));
}

size_t space_before(std::string_view text, size_t end) {
  while (end > 0) {
    const size_t at = code_point_before(text, end);
    if (!unicode_is(code_point_at(text, at).value, unicode::kSpace)) break;
    end = at;
  }
  return end;
}

size_t space_behind(std::string_view text, size_t at) {
  while (at < text.size()) {
    const CodePoint code = code_point_at(text, at);
    if (!unicode_is(code.value, unicode::kSpace)) break;
    at += static_cast<size_t>(code.size);
  }
  return at;
}

}  // namespace

// A trie, made breadth first from the sorted entries: a node is a range of entries that begin
// alike.
AddedMatcher::AddedMatcher(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::vector<int32_t> order(entries_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto text = [this](int32_t i) -> const std::string& {
    return entries_[static_cast<size_t>(i)].text;
  };
  std::ranges::stable_sort(order, {}, text);
  struct Range {
    size_t begin, end, depth;
  };
  std::vector<Range> ranges{{0, order.size(), 0}};
  nodes_.emplace_back();
  for (size_t n = 0; n < ranges.size(); ++n) {
    auto [begin, end, depth] = ranges[n];
    for (; begin < end && text(order[begin]).size() == depth; ++begin)
      if (nodes_[n].entry < 0) nodes_[n].entry = order[begin];
    nodes_[n].first_edge = static_cast<uint32_t>(edges_.size());
    while (begin < end) {
      const char byte = text(order[begin])[depth];
      size_t next = begin;
      while (next < end && text(order[next])[depth] == byte) ++next;
      edges_.push_back({static_cast<unsigned char>(byte), static_cast<uint32_t>(nodes_.size())});
      ++nodes_[n].edges;
      nodes_.emplace_back();
      ranges.push_back({begin, next, depth + 1});
      begin = next;
    }
  }
  for (const Entry& entry : entries_) begins_[static_cast<unsigned char>(entry.text[0])] = true;
}

const AddedMatcher::Edge* AddedMatcher::edge(const Node& node, char byte) const {
  const Edge* begin = edges_.data() + node.first_edge;
  const Edge* end = begin + node.edges;
  const Edge* found =
      std::ranges::lower_bound(begin, end, static_cast<unsigned char>(byte), {}, &Edge::byte);
  return found != end && found->byte == static_cast<unsigned char>(byte) ? found : nullptr;
}

int32_t AddedMatcher::longest_at(std::string_view text, size_t at, const LevelMap& levels,
                                 size_t offset) const {
  int32_t longest = -1;
  const Node* node = nodes_.data();
  for (size_t end = at; end < text.size();) {
    const Edge* next = edge(*node, text[end]);
    if (next == nullptr) break;
    ++end;
    node = &nodes_[next->node];
    if (node->entry < 0) continue;
    const Level level = levels.highest(offset + at, offset + end);
    if (entries_[static_cast<size_t>(node->entry)].allowed & level_bit(level))
      longest = node->entry;
  }
  return longest;
}

AddedMatcher::Match AddedMatcher::find(std::string_view text, size_t from, size_t taken,
                                       const LevelMap& levels, size_t offset) const {
  if (entries_.empty()) return {};
  for (size_t at = from; at < text.size(); ++at) {
    if (!begins_[static_cast<unsigned char>(text[at])]) continue;
    const int32_t found = longest_at(text, at, levels, offset);
    if (found < 0) continue;
    const Entry& entry = entries_[static_cast<size_t>(found)];
    const size_t end = at + entry.text.size();
    if (entry.single_word && (is_word_before(text, at) || is_word_at(text, end))) {
      at = end - 1;
      continue;
    }
    Match match{at, end, end, entry.id};
    if (entry.lstrip) match.begin = std::max(space_before(text, at), taken);
    if (entry.rstrip) match.end = space_behind(text, end);
    return match;
  }
  return {};
}

}  // namespace mummu
