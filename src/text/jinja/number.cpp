#include "text/jinja/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/fail.h"
#include "text/jinja/character.h"

namespace mummu::jinja {

namespace {

std::string_view non_finite(double value) {
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

std::string printed(double value, std::chars_format format, int precision) {
  if (!std::isfinite(value)) return std::string(non_finite(value));
  std::string out(static_cast<size_t>(precision) + 340,
                  '\0');  // 309 digits before the point at most
  const auto end = std::to_chars(out.data(), out.data() + out.size(), value, format, precision).ptr;
  out.resize(static_cast<size_t>(end - out.data()));
  return out;
}

// The decimal exponent of a value printed as d.ddde±xx.
int exponent_of(std::string_view scientific) {
  std::string_view digits = scientific.substr(scientific.find('e') + 1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int out = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return out;
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

// The digits without their underscores; empty if there is none or an underscore does not stand
// between two.
std::string plain_digits(std::string_view text, int base) {
  std::string out;
  bool digit_before = false;
  for (char c : text) {
    if (c == '_' && digit_before) {
      digit_before = false;
      continue;
    }
    if (digit_value(c) >= base) return {};
    out += c;
    digit_before = true;
  }
  return digit_before ? out : std::string();
}

std::string_view strip(std::string_view text) { return strip_left(strip_right(text)); }

}  // namespace

std::string format_real(double value) {
  if (!std::isfinite(value)) return std::string(non_finite(value));
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.begin(), buffer.end(), value, std::chars_format::scientific).ptr;
  const std::string_view shortest(buffer.data(), static_cast<size_t>(end - buffer.data()));
  const int exponent = exponent_of(shortest);
  if (exponent < -4 || exponent >= 16) return std::string(shortest);
  const std::string_view mantissa = shortest.substr(0, shortest.find('e'));
  const auto digits = static_cast<int>(
      std::count_if(mantissa.begin(), mantissa.end(), [](char c) { return c >= '0' && c <= '9'; }));
  return format_fixed(value, std::max(1, digits - 1 - exponent));
}

std::string format_fixed(double value, int precision) {
  return printed(value, std::chars_format::fixed, precision);
}

std::string format_exponent(double value, int precision) {
  return printed(value, std::chars_format::scientific, precision);
}

std::string format_general(double value, int precision, bool keep_zeros) {
  if (!std::isfinite(value)) return std::string(non_finite(value));
  precision = std::max(precision, 1);
  const std::string scientific = format_exponent(value, precision - 1);
  const int exponent = exponent_of(scientific);
  const bool with_exponent = exponent < -4 || exponent >= precision;
  std::string out = with_exponent ? scientific.substr(0, scientific.find('e'))
                                  : format_fixed(value, precision - 1 - exponent);
  if (!keep_zeros && out.find('.') != std::string::npos) {
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.') out.pop_back();
  } else if (keep_zeros && out.find('.') == std::string::npos) {
    out += '.';
  }
  return with_exponent ? out + scientific.substr(scientific.find('e')) : out;
}

bool parse_real(std::string_view text, double& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (end != text.data() + text.size() || text.empty()) return false;
  if (error == std::errc()) return true;
  if (error != std::errc::result_out_of_range) return false;
  // Too small or too large: the exponent's sign decides, and without an exponent it can only be too
  // large.
  const size_t mark = text.find_first_of("eE");
  const bool small = mark != std::string_view::npos && text[mark + 1] == '-';
  out = small ? 0.0 : std::numeric_limits<double>::infinity();
  if (text.front() == '-') out = -out;
  return true;
}

std::optional<double> parse_python_real(std::string_view text) {
  text = strip(text);
  bool negative = false;
  if (text.starts_with('+') || text.starts_with('-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  double out = std::numeric_limits<double>::infinity();
  if (lower == "nan") {
    out = std::numeric_limits<double>::quiet_NaN();
  } else if (lower != "inf" && lower != "infinity") {
    std::string digits;
    for (size_t i = 0; i < lower.size(); ++i) {
      const bool inside = i > 0 && i + 1 < lower.size() && digit_value(lower[i - 1]) < 10 &&
                          digit_value(lower[i + 1]) < 10;
      if (lower[i] == '_' && inside) continue;
      digits += lower[i];
    }
    const bool starts = !digits.empty() && (digit_value(digits[0]) < 10 || digits[0] == '.');
    if (!starts || !parse_real(digits, out)) return std::nullopt;
  }
  return negative ? -out : out;
}

Result<void> check_big_digits(std::string_view digits) {
  if (digits.size() <= kMaxDigits) return {};
  return fail(Error::unsupported, "an integer of {} digits is unsupported", digits.size());
}

Result<std::optional<ParsedInteger>> parse_python_integer(std::string_view text, int base) {
  using Out = std::optional<ParsedInteger>;
  text = strip(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const char mark = text.size() > 2 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : '\0';
  const int marked = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
  if (marked != 0 && (base == 0 || base == marked)) {
    text.remove_prefix(text[2] == '_' ? 3 : 2);
    base = marked;
  } else if (base == 0) {
    base = 10;
    if (text.size() > 1 && text[0] == '0' && text.find_first_not_of("0_") != std::string_view::npos)
      return Out();
  }
  std::string digits = plain_digits(text, base);
  if (digits.empty()) return Out();
  MUMMU_TRY(check_big_digits(digits));
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  if (negative && digits != "0") digits.insert(0, 1, '-');
  ParsedInteger out;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), out.value, base).ec ==
      std::errc())
    return Out(out);
  if (base != 10) return fail(Error::unsupported, "an integer beyond 64 bits is unsupported");
  out.value = 0;
  out.big = std::move(digits);
  return Out(std::move(out));
}

}  // namespace mummu::jinja
