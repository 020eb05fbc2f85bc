#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/fail.h"
#include "text/jinja/format.h"
#include "text/jinja/number.h"
#include "text/jinja/print.h"

namespace mummu::jinja {

namespace {

std::string integer_digits(uint64_t magnitude, const NumberFormat& format) {
  const char kind = static_cast<char>(format.type | 0x20);
  const int base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
  std::string out(64, '\0');
  out.resize(static_cast<size_t>(
      std::to_chars(out.data(), out.data() + out.size(), magnitude, base).ptr - out.data()));
  if (format.precision > static_cast<int>(out.size())) {
    out.insert(0, static_cast<size_t>(format.precision) - out.size(), '0');
  }
  if (format.alternate && base != 10) out.insert(0, std::string{'0', kind});
  return out;
}

void group(std::string& digits, char mark, size_t every) {
  size_t end = digits.find_first_not_of("0123456789abcdefABCDEF");
  if (end == std::string::npos) end = digits.size();
  for (size_t at = end; at > every;) {
    at -= every;
    digits.insert(at, 1, mark);
  }
}

std::string real_digits(double magnitude, const NumberFormat& format) {
  const int precision = format.precision < 0 ? 6 : format.precision;
  switch (format.type | 0x20) {
    case 'e':
      return format_exponent(magnitude, precision);
    case 'f':
      return format_fixed(magnitude, precision);
    case '%' | 0x20:
      return format_fixed(magnitude * 100, precision) + "%";
    case 'g':
    case 'n':
      return format_general(magnitude, precision, format.alternate);
    default:
      break;
  }
  if (format.precision < 0) return format_real(magnitude);
  std::string out = format_general(magnitude, precision, false);
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

void to_upper_ascii(std::string& text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
}

}  // namespace

Result<std::string> format_number(const Value& value, const NumberFormat& format) {
  constexpr std::string_view kIntegerTypes = "dxXobn";
  const bool as_integer =
      value.is_integral() && kIntegerTypes.find(format.type) != std::string_view::npos;
  std::string digits;
  bool negative = false;
  if (as_integer) {
    negative = value.as_integer() < 0;
    const auto magnitude = static_cast<uint64_t>(value.as_integer());
    digits = integer_digits(negative ? 0 - magnitude : magnitude, format);
  } else if (value.is(Kind::big)) {
    if (format.type != 'd')
      return fail(Error::unsupported, "such a format of an integer beyond 64 bits is unsupported");
    digits = value.object<BigObject>().digits;
    negative = digits.front() == '-';
    if (negative) digits.erase(0, 1);
  } else {
    const double real =
        value.is(Kind::real) ? value.as_real() : static_cast<double>(value.as_integer());
    negative = std::signbit(real) && !std::isnan(real);
    digits = real_digits(std::fabs(real), format);
  }
  if (format.grouping)
    group(digits, format.grouping,
          as_integer && (format.type | 0x20) != 'd' && format.type != 'n' ? 4 : 3);
  if (format.type >= 'A' && format.type <= 'Z') to_upper_ascii(digits);
  if (negative) return "-" + digits;
  return format.sign == '-' ? digits : std::string(1, format.sign) + digits;
}

}  // namespace mummu::jinja
