#pragma once

// Walking over code points of valid UTF-8. Everything a template sees was checked at the edge.

#include <cstdint>
#include <string_view>

#include "text/utf8.h"

namespace mummu::jinja {

// The code point at `at`, which moves behind it.
//   requires  at < text.size(), on a border
inline char32_t next_point(std::string_view text, size_t& at) {
  const CodePoint point = code_point_at(text, at);
  at += static_cast<size_t>(point.size);
  return point.value;
}

// The code point that ends before `at`, which moves to its start.
//   requires  at > 0, on a border
inline char32_t previous_point(std::string_view text, size_t& at) {
  at = code_point_before(text, at);
  return code_point_at(text, at).value;
}

// The byte offset of the code point with this index; text.size() if there are fewer.
inline size_t offset_of_point(std::string_view text, int64_t index) {
  size_t at = 0;
  for (; at < text.size() && index > 0; --index) next_point(text, at);
  return at;
}

}  // namespace mummu::jinja
