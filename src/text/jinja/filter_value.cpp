// Filters of any value: numbers, defaults, attributes.

#include <cmath>

#include "base/fail.h"
#include "text/jinja/compare.h"
#include "text/jinja/escape.h"
#include "text/jinja/filter_table.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/json_write.h"
#include "text/jinja/number.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

namespace {

Result<Value> fallback(Call& call) {
  const bool boolean = !call.at[1].is_missing() && is_true(call.at[1]);
  if (!call.self.is_undefined() && !(boolean && !is_true(call.self))) return call.self;
  if (!call.at[0].is_missing()) return call.at[0];
  return make_string(call.heap, "");
}

// int(value) of a float: towards zero. Missing: no integer.
Result<Value> whole(double value) {
  if (!std::isfinite(value)) return Value();
  const double cut = std::trunc(value);
  if (std::fabs(cut) >= 0x1p63)
    return fail(Error::unsupported, "an integer beyond 64 bits is unsupported");
  return Value::integer(static_cast<int64_t>(cut));
}

Result<Value> integer_of_text(Call& call, std::string_view text, int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) return Value();
  MUMMU_TRY(const auto parsed, parse_python_integer(text, static_cast<int>(base)));
  if (parsed && !parsed->big.empty()) {
    return Value(Kind::big, make<BigObject>(call.heap, parsed->big.size(), parsed->big));
  }
  if (parsed) return Value::integer(parsed->value);
  const auto real = parse_python_real(text);
  return real ? whole(*real) : Value();
}

Result<Value> to_integer(Call& call) {
  const Value& value = call.self;
  MUMMU_TRY(const int64_t base, integer_argument(call.in, call.at[1], 10));
  if (value.is_undefined()) return call.in.undefined_error(value);
  Value out;
  if (value.is(Kind::big)) return value;
  if (value.is_integral()) return Value::integer(value.as_integer());
  if (value.is(Kind::real)) {
    MUMMU_TRY(out, whole(value.as_real()));
    if (out.is_missing() && std::isinf(value.as_real()))
      return fail(Error::invalid, "an infinite number has no integer");
  } else if (value.is_string()) {
    MUMMU_TRY(call.heap.work(value.text().size()));
    MUMMU_TRY(out, integer_of_text(call, value.view(), base));
  }
  if (!out.is_missing()) return out;
  return call.at[0].is_missing() ? Value::integer(0) : call.at[0];
}

// float(value); empty if it has none.
std::optional<double> real_of(const Value& value) {
  if (value.is(Kind::real)) return value.as_real();
  if (value.is_integral()) return static_cast<double>(value.as_integer());
  if (value.is_string()) return parse_python_real(value.view());
  double out = 0;
  if (value.is(Kind::big) && parse_real(value.object<BigObject>().digits, out)) return out;
  return std::nullopt;
}

Result<Value> to_real(Call& call) {
  if (call.self.is_undefined()) return call.in.undefined_error(call.self);
  if (const auto real = real_of(call.self)) return Value::real(*real);
  return call.at[0].is_missing() ? Value::real(0) : call.at[0];
}

Result<Value> absolute(Call& call) {
  if (call.self.is(Kind::real)) return Value::real(std::fabs(call.self.as_real()));
  if (call.self.is_integral() && call.self.as_integer() >= 0)
    return Value::integer(call.self.as_integer());
  return apply(call.in, UnaryOp::minus, call.self);
}

// round(value, digits): to even where two are equally near, from the exact value.
double round_to(double value, int64_t digits) {
  if (!std::isfinite(value) || digits > 323) return value;
  double out = 0;
  if (digits >= 0) {
    parse_real(format_fixed(value, static_cast<int>(digits)), out);
    return out;
  }
  if (digits < -308) return std::copysign(0.0, value);
  const double unit = std::pow(10.0, static_cast<double>(-digits));
  return std::nearbyint(value / unit) * unit;
}

Result<Value> round(Call& call) {
  MUMMU_TRY(const int64_t digits, integer_argument(call.in, call.at[0], 0));
  std::string_view method = "common";
  if (!call.at[1].is_missing()) {
    MUMMU_TRY(const Value given, string_argument(call.in, call.at[1]));
    method = call.at[1].view();
  }
  if (call.self.is_undefined()) return call.in.undefined_error(call.self);
  if (!call.self.is_integral() && !call.self.is(Kind::real)) {
    return fail(Error::invalid, "round: a number expected, not {}", type_name(call.self));
  }
  const bool is_real = call.self.is(Kind::real);
  if (method == "common" && !is_real) {
    if (digits >= 0) return Value::integer(call.self.as_integer());
    return fail(Error::unsupported, "round of an integer to tens is unsupported");
  }
  const double value = is_real ? call.self.as_real() : static_cast<double>(call.self.as_integer());
  if (method == "common") return Value::real(round_to(value, digits));
  if (method != "ceil" && method != "floor")
    return fail(Error::invalid, "round: 'common', 'ceil' or 'floor'");
  const double unit = std::pow(10.0, static_cast<double>(digits));
  const double scaled = method == "ceil" ? std::ceil(value * unit) : std::floor(value * unit);
  if (!std::isfinite(scaled)) return fail(Error::invalid, "round: a number that is too large");
  return Value::real(scaled / unit);
}

// An attribute and never an element.
Result<Value> attribute(Call& call) {
  MUMMU_TRY(const Value name, to_string(call.in, call.at[0]));
  const int32_t number = call.in.names().find(name.view());
  if (call.self.is(Kind::dict) && !find_method(Kind::dict, name.view())) {
    return Value::undefined({number, Kind::dict, Absence::Reason::attribute});
  }
  return call.in.attribute(call.self, name.view(), number);
}

Result<Value> file_size(Call& call) {
  constexpr std::string_view kDecimal[] = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  constexpr std::string_view kBinary[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  const bool binary = !call.at[0].is_missing() && is_true(call.at[0]);
  const std::optional<double> real = real_of(call.self);
  if (!real)
    return fail(Error::invalid, "filesizeformat: a number expected, not {}", type_name(call.self));
  const double bytes = *real, base = binary ? 1024 : 1000;
  if (bytes == 1) return make_string(call.heap, "1 Byte");
  if (bytes < base) {
    MUMMU_TRY(const Value count, whole(bytes));
    return make_string(call.heap,
                       fmt::format("{} Bytes", count.is_missing() ? 0 : count.as_integer()));
  }
  size_t which = 0;
  double unit = base * base;
  for (; which < 7 && bytes >= unit; ++which) unit *= base;
  return make_string(call.heap, format_fixed(base * bytes / unit, 1) + " " +
                                    std::string(binary ? kBinary[which] : kDecimal[which]));
}

Result<Value> xml_attributes(Call& call) {
  if (!call.self.is(Kind::dict))
    return fail(Error::invalid, "xmlattr: a dict expected, not {}", type_name(call.self));
  const bool space = call.at[0].is_missing() || is_true(call.at[0]);
  TextBuilder out(call.heap);
  bool first = true;
  for (const auto& [key, value] : call.self.dict().entries()) {
    if (value.is_none() || value.is_undefined()) continue;
    MUMMU_TRY(const Value name, string_argument(call.in, key));
    if (name.view().find_first_of(" \t\n\r\f\v/>=") != std::string_view::npos) {
      return fail(Error::invalid, "xmlattr: a wrong character in the attribute {}",
                  quoted(name.view()));
    }
    if (space || !first) out.add(" ", Level::templ);
    first = false;
    MUMMU_TRY(add_escaped(call.in, out, name, true));
    out.add("=\"", Level::templ);
    MUMMU_TRY(add_escaped(call.in, out, value, true));
    out.add("\"", Level::templ);
  }
  return finish_string(call.heap, out);
}

constexpr BuiltinInfo kFilters[] = {
    {"default", "default_value? boolean?", fallback},
    {"d", "default_value? boolean?", fallback},
    {"int", "default? base?", to_integer},
    {"float", "default?", to_real},
    {"abs", "", absolute},
    {"round", "precision? method?", round},
    {"attr", "name", attribute},
    {"tojson", "ensure_ascii? indent? separators? sort_keys?", filter_tojson},
    {"filesizeformat", "binary?", file_size},
    {"xmlattr", "autospace?", xml_attributes},
};

}  // namespace

std::span<const BuiltinInfo> value_filters() { return kFilters; }

}  // namespace mummu::jinja
