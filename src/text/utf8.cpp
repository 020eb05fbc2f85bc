#include "text/utf8.h"

#include <algorithm>
#include <cstring>

namespace mummu {
namespace {

// The bytes that may follow a first byte: how many, and the range of the first of them (all others
// are 80..BF).
struct Form {
  int size;  // 0: no code point begins with this byte
  unsigned char low, high;
};

Form form_of(unsigned char first) {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xc2) return {0, 0, 0};
  if (first < 0xe0) return {2, 0x80, 0xbf};
  if (first == 0xe0) return {3, 0xa0, 0xbf};
  if (first == 0xed) return {3, 0x80, 0x9f};
  if (first < 0xf0) return {3, 0x80, 0xbf};
  if (first == 0xf0) return {4, 0x90, 0xbf};
  if (first < 0xf4) return {4, 0x80, 0xbf};
  if (first == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

// How many bytes from the beginning are ASCII, counted in eights.
size_t ascii_words(std::string_view text) {
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    if (word & 0x8080808080808080u) break;
  }
  return at;
}

}  // namespace

void append_utf8(std::string& out, char32_t code) {
  const auto tail = [code](int shift) {
    return static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += {tail(6), tail(0)};
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += {tail(12), tail(6), tail(0)};
  }
}

Utf8Step utf8_step(std::string_view bytes) {
  const auto byte = [&](int i) {
    return static_cast<unsigned char>(bytes[static_cast<size_t>(i)]);
  };
  const Form form = form_of(byte(0));
  if (form.size == 0) return {Utf8Step::Kind::invalid, 1};
  for (int i = 1; i < form.size; ++i) {
    if (static_cast<size_t>(i) >= bytes.size()) return {Utf8Step::Kind::incomplete, i};
    const unsigned char low = i == 1 ? form.low : 0x80;
    const unsigned char high = i == 1 ? form.high : 0xbf;
    if (byte(i) < low || byte(i) > high) return {Utf8Step::Kind::invalid, i};
  }
  return {Utf8Step::Kind::valid, form.size};
}

std::optional<size_t> find_invalid_utf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    at += ascii_words(text.substr(at));
    if (at == text.size()) break;
    const Utf8Step step = utf8_step(text.substr(at));
    if (step.kind != Utf8Step::Kind::valid) return at;
    at += static_cast<size_t>(step.size);
  }
  return std::nullopt;
}

size_t code_points(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace mummu
