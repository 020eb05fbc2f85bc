#pragma once

// Numbers as Python reads and writes them, whatever the host's locale.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mummu/result.h"

namespace mummu::jinja {

// repr(float): the shortest digits that read back as the same value, an exponent below 1e-4 and
// from 1e16.
std::string format_real(double value);

// Digits after the point, correctly rounded from the exact value: what '%.2f' % x prints.
//   requires  precision >= 0
std::string format_fixed(double value, int precision);
// The same for '%.2e'.
std::string format_exponent(double value, int precision);
// '%.2g' (precision significant digits); `keep_zeros` is the flag '#'.
std::string format_general(double value, int precision, bool keep_zeros);

// Reads digits, point and exponent to the nearest double; too large is infinite. False if the text
// is anything else.
bool parse_real(std::string_view text, double& out);

// float(text): white space around, a sign, underscores between digits, inf, nan.
std::optional<double> parse_python_real(std::string_view text);

// int(text, base), base 0 or 2 to 36. Empty: not an integer. Digits beyond 64 bits come back in
// `big` (base 10 only).
struct ParsedInteger {
  int64_t value = 0;
  std::string big;  // canonical digits; empty if it fits
};
//   errors   unsupported (beyond 64 bits in another base than ten, or more than kMaxDigits digits)
Result<std::optional<ParsedInteger>> parse_python_integer(std::string_view text, int base);

constexpr size_t kMaxDigits = 4300;  // of an integer; Python's own limit
Result<void> check_big_digits(std::string_view digits);

}  // namespace mummu::jinja
