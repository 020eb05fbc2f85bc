#pragma once

// Python's view of characters: which are white space, letters, digits, printable, and how they
// change case. The tables are made by tool/make_character_table.py from Python's own Unicode data.

#include <cstdint>
#include <string>
#include <string_view>

namespace mummu::jinja {

bool is_space(char32_t point);       // str.isspace
bool is_line_break(char32_t point);  // where str.splitlines cuts
bool is_name_start(char32_t point);
bool is_name_part(char32_t point);  // \w: isalnum or an underscore
bool is_alpha(char32_t point);
bool is_decimal(char32_t point);
bool is_digit_like(char32_t point);  // str.isdigit
bool is_numeric(char32_t point);
bool is_alnum(char32_t point);
bool is_printable(char32_t point);
bool is_upper(char32_t point);
bool is_lower(char32_t point);
bool is_title(char32_t point);  // a title case letter of its own
bool is_cased(char32_t point);
bool is_case_ignorable(char32_t point);

// The one to three code points that a case maps a code point to.
struct CaseMapping {
  char32_t points[3] = {0, 0, 0};
  int size = 0;
};
CaseMapping to_upper(char32_t point);
CaseMapping to_lower(char32_t point);
CaseMapping to_title(char32_t point);
CaseMapping to_folded(char32_t point);

std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);
bool is_all_space(std::string_view text);  // at least one character, all white space

}  // namespace mummu::jinja
