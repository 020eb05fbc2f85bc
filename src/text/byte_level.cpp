#include "text/byte_level.h"

#include <array>

#include "text/utf8.h"

namespace mummu {
namespace {

constexpr bool stands_for_itself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

struct Alphabet {
  std::array<char16_t, 256> chars{};
  std::array<int16_t, 0x144> bytes{};

  constexpr Alphabet() {
    bytes.fill(-1);
    char16_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const char16_t code = stands_for_itself(byte) ? static_cast<char16_t>(byte) : next++;
      chars[static_cast<size_t>(byte)] = code;
      bytes[code] = static_cast<int16_t>(byte);
    }
  }
};
constexpr Alphabet kAlphabet;

}  // namespace

char32_t byte_level_char(unsigned char byte) { return kAlphabet.chars[byte]; }

int byte_level_byte(char32_t code) {
  return code < kAlphabet.bytes.size() ? kAlphabet.bytes[code] : -1;
}

void append_byte_level(std::string& out, std::string_view bytes) {
  for (const char byte : bytes) append_utf8(out, byte_level_char(static_cast<unsigned char>(byte)));
}

bool append_bytes_of(std::string& out, std::string_view text) {
  const size_t before = out.size();
  for (size_t at = 0; at < text.size();) {
    const CodePoint code = code_point_at(text, at);
    const int byte = byte_level_byte(code.value);
    if (byte < 0) {
      out.resize(before);
      return false;
    }
    out += static_cast<char>(byte);
    at += static_cast<size_t>(code.size);
  }
  return true;
}

}  // namespace mummu
