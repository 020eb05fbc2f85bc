#include "base/fail.h"
#include "text/jinja/format.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/print.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

namespace {

//   source   The Python Standard Library, "Format Specification Mini-Language"
struct Spec {
  char32_t fill = ' ';
  char align = '\0';  // < > ^ =
  bool zero = false;
  int64_t width = 0;
  int64_t precision = -1;
  NumberFormat number{.type = '\0'};
};

bool is_align(char32_t c) { return c == '<' || c == '>' || c == '^' || c == '='; }

int64_t take_number(std::string_view& text) {
  int64_t out = -1;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    out =
        std::min<int64_t>(std::max<int64_t>(out, 0) * 10 + (text.front() - '0'), int64_t{1} << 40);
    text.remove_prefix(1);
  }
  return out;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

Result<Spec> parse(std::string_view text) {
  Spec out;
  size_t behind = 0;
  const char32_t first = text.empty() ? 0 : next_point(text, behind);
  if (behind < text.size() && is_align(static_cast<unsigned char>(text[behind]))) {
    out.fill = first;
    out.align = text[behind];
    text.remove_prefix(behind + 1);
  } else if (is_align(first)) {
    out.align = text.front();
    text.remove_prefix(1);
  }
  if (!text.empty() && std::string_view("+- ").find(text.front()) != std::string_view::npos) {
    out.number.sign = text.front();
    text.remove_prefix(1);
  }
  if (take(text, 'z')) return fail(Error::unsupported, "'z' in a format is unsupported");
  out.number.alternate = take(text, '#');
  if (text.starts_with('0')) {
    out.zero = true;
    if (!out.align) {
      out.fill = '0';
      out.align = '=';
    }
  }
  out.width = std::max<int64_t>(take_number(text), 0);
  if (take(text, ',')) out.number.grouping = ',';
  if (take(text, '_')) out.number.grouping = '_';
  if (take(text, '.')) {
    out.precision = take_number(text);
    if (out.precision < 0) return fail(Error::invalid, "format specifier missing precision");
  }
  if (!text.empty()) {
    out.number.type = text.front();
    text.remove_prefix(1);
  }
  if (!text.empty()) return fail(Error::invalid, "invalid format specifier");
  return out;
}

Result<std::string> padded(std::string text, const Spec& spec, char fallback) {
  const int64_t missing = spec.width - static_cast<int64_t>(code_points(text));
  if (missing <= 0) return text;
  if (spec.width > static_cast<int64_t>(kMaxText / 4))
    return fail(Error::invalid, "a text of more than {} MiB", kMaxText >> 20);
  const char align = spec.align ? spec.align : fallback;
  const int64_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  const size_t sign = align == '=' && text.find_first_of("+- ") == 0 ? 1 : 0;
  const size_t prefix = align == '=' && spec.number.alternate && text.size() > sign + 1 ? 2 : 0;
  std::string out = text.substr(0, sign + prefix);
  for (int64_t i = 0; i < left; ++i) append_utf8(out, spec.fill);
  out += text.substr(sign + prefix);
  for (int64_t i = left; i < missing; ++i) append_utf8(out, spec.fill);
  return out;
}

Result<std::string> format_string(std::string_view text, const Spec& spec) {
  const NumberFormat& number = spec.number;
  const bool numeric = number.sign != '-' || number.alternate || number.grouping ||
                       (spec.align == '=' && !spec.zero) ||
                       (number.type != '\0' && number.type != 's');
  if (numeric) return fail(Error::invalid, "a format for numbers given to a str");
  Spec plain = spec;
  if (plain.align == '=') plain.align = '<';
  if (spec.precision >= 0) text = text.substr(0, offset_of_point(text, spec.precision));
  return padded(std::string(text), plain, '<');
}

Result<std::string> format_numeric(const Value& value, Spec spec) {
  constexpr std::string_view kIntegers = "dxXobnc", kReals = "eEfFgGn%";
  NumberFormat number = spec.number;
  if (spec.precision > kMaxPrecision)
    return fail(Error::invalid, "a precision of more than {}", kMaxPrecision);
  number.precision = static_cast<int>(spec.precision);
  if (!value.is(Kind::real) &&
      (number.type == '\0' || kIntegers.find(number.type) != std::string_view::npos)) {
    if (spec.precision >= 0)
      return fail(Error::invalid, "a precision is not allowed in a format for integers");
    if (number.type == 'c') return fail(Error::unsupported, "'c' in a format is unsupported");
    if (number.type == '\0') number.type = 'd';
  } else if (number.type != '\0' && kReals.find(number.type) == std::string_view::npos) {
    return fail(Error::invalid, "unknown format code '{}' for {}", number.type, type_name(value));
  }
  MUMMU_TRY(std::string digits, format_number(value, number));
  if (spec.zero && number.grouping && spec.align == '=') {
    return fail(Error::unsupported, "grouped digits filled with zeros are unsupported");
  }
  return padded(std::move(digits), spec, '>');
}

}  // namespace

Result<std::string> format_with_spec(Interpreter& in, const Value& value, std::string_view text) {
  MUMMU_TRY(const Spec spec, parse(text));
  if (value.is_number()) return format_numeric(value, spec);
  if (value.is_undefined()) return in.undefined_error(value);
  if (!value.is_string())
    return fail(Error::invalid, "a format spec given to {}", type_name(value));
  return format_string(value.view(), spec);
}

}  // namespace mummu::jinja
