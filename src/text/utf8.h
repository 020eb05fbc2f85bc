#pragma once

// UTF-8: reading code points from text that is known to be valid, checking text that is not, and
// the replacement of invalid bytes. No state; any thread.
//   source   Unicode 15 section 3.9, table 3-7; U+FFFD for each maximal subpart (the same section)

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mummu {

struct CodePoint {
  char32_t value = 0;
  int size = 0;  // bytes
};

// The code point that begins at text[at].
//   requires  text valid UTF-8, at < text.size() and at a border
inline CodePoint code_point_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const char32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const auto tail = [&](size_t i) { return static_cast<char32_t>(byte(i) & 0x3f); };
  if (first < 0xe0) return {(first & 0x1f) << 6 | tail(1), 2};
  if (first < 0xf0) return {(first & 0x0f) << 12 | tail(1) << 6 | tail(2), 3};
  return {(first & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4};
}

// Where the code point that ends before text[end] begins.
//   requires  text valid UTF-8, 0 < end <= text.size()
inline size_t code_point_before(std::string_view text, size_t end) {
  --end;
  while ((static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return end;
}

// Appends one code point as UTF-8.
//   requires  code <= 0x10ffff and no surrogate
void append_utf8(std::string& out, char32_t code);

// Where the first byte stands that is not part of valid UTF-8; empty if all is valid.
std::optional<size_t> find_invalid_utf8(std::string_view text);

// What stands at the beginning of bytes that need not be valid.
struct Utf8Step {
  enum class Kind { valid, invalid, incomplete };
  Kind kind;
  int size;  // bytes of the code point, of the maximal subpart of one, or what there is of it
};
//   requires  !bytes.empty()
Utf8Step utf8_step(std::string_view bytes);

// The number of code points.
//   requires  text valid UTF-8
size_t code_points(std::string_view text);

inline constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

}  // namespace mummu
