#include "text/added_matcher.h"

#include <algorithm>

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

AddedMatcher::AddedMatcher(std::vector<Entry> entries) : entries_(std::move(entries)) {
  std::vector<std::string_view> texts;
  for (const Entry& entry : entries_) {
    texts.push_back(entry.text);
    begins_[static_cast<unsigned char>(entry.text[0])] = true;
  }
  trie_ = ByteTrie(texts);
}

int32_t AddedMatcher::longest_at(std::string_view text, size_t at, const LevelMap& levels,
                                 size_t offset) const {
  int32_t longest = -1;
  trie_.prefixes(text, at, [&](int32_t entry, size_t end) {
    const Level level = levels.highest(offset + at, offset + end);
    if (entries_[static_cast<size_t>(entry)].allowed & level_bit(level)) longest = entry;
  });
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
