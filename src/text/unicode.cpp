#include "text/unicode.h"

#include <algorithm>
#include <span>

#include "text/utf8.h"

namespace mummu {

void append_lower(std::string& out, char32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code >= 'A' && code <= 'Z' ? code + 32 : code);
    return;
  }
  const std::span table(unicode_table::kLower, unicode_table::kLowerCount);
  const auto found = std::ranges::lower_bound(table, code, {}, &unicode_table::Lower::from);
  if (found == table.end() || found->from != code) {
    append_utf8(out, code);
    return;
  }
  append_utf8(out, found->to[0]);
  if (found->to[1] != 0) append_utf8(out, found->to[1]);
}

}  // namespace mummu
