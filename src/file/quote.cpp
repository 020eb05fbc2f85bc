#include "file/quote.h"

#include <fmt/format.h>

#include <iterator>

namespace mummu {

std::string quote(std::string_view text) {
  constexpr size_t kLongest = 80;
  std::string out = "'";
  for (char c : text.substr(0, kLongest)) {
    const bool plain = c >= 0x20 && c < 0x7f && c != '\\' && c != '\'';
    if (plain) {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out + (text.size() > kLongest ? "'..." : "'");
}

}  // namespace mummu
