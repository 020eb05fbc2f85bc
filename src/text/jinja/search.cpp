#include "text/jinja/search.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace mummu::jinja {

size_t find_first(std::string_view text, std::string_view needle, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (needle.empty()) return from;
  const void* found = memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
  return found ? static_cast<size_t>(static_cast<const char*>(found) - text.data())
               : std::string_view::npos;
}

//   source   Knuth, Morris, Pratt, "Fast pattern matching in strings" (1977), over both texts
//   backwards
size_t find_last(std::string_view text, std::string_view needle) {
  const size_t size = needle.size();
  if (size > text.size()) return std::string_view::npos;
  if (size == 0) return text.size();
  const auto pattern = [&](size_t i) { return needle[size - 1 - i]; };
  std::vector<uint32_t> border(
      size, 0);  // of each prefix: its longest proper prefix that is also its end
  for (size_t i = 1, matched = 0; i < size; ++i) {
    while (matched > 0 && pattern(i) != pattern(matched)) matched = border[matched - 1];
    if (pattern(i) == pattern(matched)) ++matched;
    border[i] = static_cast<uint32_t>(matched);
  }
  size_t matched = 0;
  for (size_t at = text.size(); at-- > 0;) {
    while (matched > 0 && text[at] != pattern(matched)) matched = border[matched - 1];
    if (text[at] == pattern(matched)) ++matched;
    if (matched == size) return at;
  }
  return std::string_view::npos;
}

}  // namespace mummu::jinja
