#include "text/jinja/character.h"

#include <algorithm>

#include "text/jinja/character_table.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

namespace {

template <typename Range>
const Range* find_range(std::span<const Range> ranges, char32_t point) {
  const auto ends_before = [](const Range& range, char32_t p) { return range.last < p; };
  const auto found = std::lower_bound(ranges.begin(), ranges.end(), point, ends_before);
  return found != ranges.end() && found->first <= point ? &*found : nullptr;
}

bool in(std::span<const PointRange> ranges, char32_t point) {
  return find_range(ranges, point) != nullptr;
}

CaseMapping map_case(std::span<const CaseRange> simple, std::span<const SpecialCase> special,
                     char32_t point) {
  const auto before = [](const SpecialCase& entry, char32_t p) { return entry.from < p; };
  const auto found = std::lower_bound(special.begin(), special.end(), point, before);
  if (found != special.end() && found->from == point) {
    CaseMapping out;
    for (char32_t to : found->to) {
      if (to != 0) out.points[out.size++] = to;
    }
    return out;
  }
  const CaseRange* range = find_range(simple, point);
  if (!range || (point - range->first) % range->stride != 0) return {{point, 0, 0}, 1};
  return {{static_cast<char32_t>(static_cast<int32_t>(point) + range->delta), 0, 0}, 1};
}

}  // namespace

bool is_space(char32_t point) {
  if (point < 0x80)
    return point == ' ' || (point >= 9 && point <= 13) || (point >= 0x1C && point <= 0x1F);
  return point == 0x85 || point == 0xA0 || point == 0x1680 ||
         (point >= 0x2000 && point <= 0x200A) || point == 0x2028 || point == 0x2029 ||
         point == 0x202F || point == 0x205F || point == 0x3000;
}

bool is_line_break(char32_t point) {
  return (point >= 0x0A && point <= 0x0D) || (point >= 0x1C && point <= 0x1E) || point == 0x85 ||
         point == 0x2028 || point == 0x2029;
}

bool is_name_start(char32_t point) {
  if (point < 0x80) return point == '_' || ((point | 0x20) >= 'a' && (point | 0x20) <= 'z');
  return in(kNameStart, point);
}

bool is_name_part(char32_t point) {
  if (point < 0x80) return is_name_start(point) || (point >= '0' && point <= '9');
  return in(kNamePart, point);
}

bool is_alpha(char32_t point) { return in(kAlpha, point); }
bool is_decimal(char32_t point) { return in(kDecimal, point); }
bool is_digit_like(char32_t point) { return in(kDigit, point); }
bool is_numeric(char32_t point) { return in(kNumeric, point); }
bool is_alnum(char32_t point) {
  return is_alpha(point) || is_digit_like(point) || is_numeric(point);
}
bool is_printable(char32_t point) { return point < 0x7F ? point >= 0x20 : in(kPrintable, point); }
bool is_upper(char32_t point) { return in(kUpper, point); }
bool is_lower(char32_t point) { return in(kLower, point); }
bool is_title(char32_t point) { return in(kTitle, point); }
bool is_cased(char32_t point) { return in(kCased, point); }
bool is_case_ignorable(char32_t point) { return in(kIgnorable, point); }

CaseMapping to_upper(char32_t point) { return map_case(kUpperSimple, kUpperSpecial, point); }
CaseMapping to_lower(char32_t point) { return map_case(kLowerSimple, kLowerSpecial, point); }
CaseMapping to_title(char32_t point) { return map_case(kTitleSimple, kTitleSpecial, point); }
CaseMapping to_folded(char32_t point) { return map_case(kFoldedSimple, kFoldedSpecial, point); }

std::string_view strip_left(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    size_t next = at;
    if (!is_space(next_point(text, next))) break;
    at = next;
  }
  return text.substr(at);
}

std::string_view strip_right(std::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    size_t start = end;
    if (!is_space(previous_point(text, start))) break;
    end = start;
  }
  return text.substr(0, end);
}

bool is_all_space(std::string_view text) { return !text.empty() && strip_left(text).empty(); }

}  // namespace mummu::jinja
