#include "text/jinja/operators.h"

#include <cmath>

#include "base/checked.h"
#include "base/fail.h"
#include "text/jinja/compare.h"
#include "text/jinja/escape.h"
#include "text/jinja/format.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/print.h"

namespace mummu::jinja {

namespace {

constexpr std::string_view kSymbols[] = {"+", "-", "*", "/", "//", "%", "**"};

Error too_big() { return fail(Error::unsupported, "an integer beyond 64 bits is unsupported"); }

Error mismatch(Interpreter& in, BinaryOp op, const Value& a, const Value& b) {
  if (a.is_undefined()) return in.undefined_error(a);
  if (b.is_undefined()) return in.undefined_error(b);
  return fail(Error::invalid, "{} cannot join {} and {}", kSymbols[static_cast<int>(op)],
              type_name(a), type_name(b));
}

double real_of(const Value& value) {
  return value.is(Kind::real) ? value.as_real() : static_cast<double>(value.as_integer());
}

//   source   The Python Language Reference, 6.7: the quotient is rounded down, the remainder has
//   the divisor's sign
int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

double floor_modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

// As CPython: from the remainder, so that quotient and remainder fit together.
double floor_quotient(double a, double b) {
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

Result<Value> integer_power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) return fail(Error::invalid, "0 cannot be raised to a negative power");
    return Value::real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  int64_t out = 1;
  std::optional<int64_t> square = base;
  for (; exponent > 0; exponent >>= 1) {
    if (!square) return too_big();
    if (exponent & 1) {
      const auto product = checked_mul(out, *square);
      if (!product) return too_big();
      out = *product;
    }
    square = checked_mul(*square, *square);
  }
  return Value::integer(out);
}

Result<Value> checked(std::optional<int64_t> value) {
  if (!value) return too_big();
  return Value::integer(*value);
}

Result<Value> apply_integers(BinaryOp op, int64_t a, int64_t b) {
  int64_t difference = 0;
  switch (op) {
    case BinaryOp::add:
      return checked(checked_add(a, b));
    case BinaryOp::subtract:
      if (__builtin_sub_overflow(a, b, &difference)) return too_big();
      return Value::integer(difference);
    case BinaryOp::multiply:
      return checked(checked_mul(a, b));
    case BinaryOp::power:
      return integer_power(a, b);
    default:
      break;
  }
  if (b == 0) return fail(Error::invalid, "division by zero");
  if (op == BinaryOp::divide) return Value::real(static_cast<double>(a) / static_cast<double>(b));
  if (b == -1) {  // the one quotient that overflows, and the processor's trap for its remainder
    if (op == BinaryOp::modulo) return Value::integer(0);
    return apply_integers(BinaryOp::subtract, 0, a);
  }
  if (op == BinaryOp::floor_divide) return Value::integer(floor_quotient(a, b));
  return Value::integer(a - floor_quotient(a, b) * b);
}

Result<Value> apply_reals(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::add:
      return Value::real(a + b);
    case BinaryOp::subtract:
      return Value::real(a - b);
    case BinaryOp::multiply:
      return Value::real(a * b);
    case BinaryOp::power: {
      const double out = std::pow(a, b);
      const bool complex = a < 0 && std::isfinite(b) && b != std::floor(b);
      if (complex) return fail(Error::unsupported, "a complex number is unsupported");
      if (a == 0 && b < 0) return fail(Error::invalid, "0 cannot be raised to a negative power");
      if (std::isinf(out) && std::isfinite(a) && std::isfinite(b))
        return fail(Error::invalid, "a power too large");
      return Value::real(out);
    }
    default:
      break;
  }
  if (b == 0) return fail(Error::invalid, "division by zero");
  if (op == BinaryOp::divide) return Value::real(a / b);
  if (op == BinaryOp::floor_divide) return Value::real(floor_quotient(a, b));
  return Value::real(floor_modulo(a, b));
}

Result<Value> add_strings(Interpreter& in, const Value& a, const Value& b) {
  TextBuilder out(in.heap());
  const bool safe = a.string().safe || b.string().safe;
  MUMMU_TRY(add_escaped(in, out, a, safe && !a.string().safe));
  MUMMU_TRY(add_escaped(in, out, b, safe && !b.string().safe));
  return finish_string(in.heap(), out, safe);
}

Result<Value> add_items(Interpreter& in, const Value& a, const Value& b) {
  std::vector<Value> out;
  out.reserve(a.items().size() + b.items().size());
  out.insert(out.end(), a.items().begin(), a.items().end());
  out.insert(out.end(), b.items().begin(), b.items().end());
  return a.is(Kind::list) ? make_list(in.heap(), std::move(out))
                          : make_tuple(in.heap(), std::move(out));
}

Result<Value> repeat(Interpreter& in, const Value& value, int64_t count) {
  count = std::max<int64_t>(count, 0);
  const size_t size =
      value.is_string() ? value.text().size() : value.items().size() * sizeof(Value);
  if (size > 0 && count > static_cast<int64_t>(kMaxText / size)) {
    return fail(Error::invalid, "a value of more than {} MiB", kMaxText >> 20);
  }
  if (value.is_string()) {
    TextBuilder out(in.heap());
    for (int64_t i = 0; size > 0 && i < count && !out.failed(); ++i) out.add(value.text());
    return finish_string(in.heap(), out, value.string().safe);
  }
  std::vector<Value> out;
  for (int64_t i = 0; size > 0 && i < count; ++i)
    out.insert(out.end(), value.items().begin(), value.items().end());
  return value.is(Kind::list) ? make_list(in.heap(), std::move(out))
                              : make_tuple(in.heap(), std::move(out));
}

bool is_repeatable(const Value& value) { return value.is_string() || value.is_sequence(); }

}  // namespace

Result<Value> apply(Interpreter& in, BinaryOp op, const Value& a, const Value& b) {
  MUMMU_TRY(in.heap().step());
  if (a.is_string() && op == BinaryOp::modulo) return format_percent(in, a, b);
  if (a.is(Kind::big) || b.is(Kind::big))
    return a.is_number() && b.is_number() ? too_big() : mismatch(in, op, a, b);
  if (a.is_integral() && b.is_integral()) return apply_integers(op, a.as_integer(), b.as_integer());
  if (a.is_number() && b.is_number()) return apply_reals(op, real_of(a), real_of(b));
  if (op == BinaryOp::add && a.is_string() && b.is_string()) return add_strings(in, a, b);
  if (op == BinaryOp::add && a.is_sequence() && a.kind() == b.kind()) return add_items(in, a, b);
  if (op == BinaryOp::multiply && is_repeatable(a) && b.is_integral())
    return repeat(in, a, b.as_integer());
  if (op == BinaryOp::multiply && is_repeatable(b) && a.is_integral())
    return repeat(in, b, a.as_integer());
  return mismatch(in, op, a, b);
}

Result<Value> apply(Interpreter& in, UnaryOp op, const Value& value) {
  if (op == UnaryOp::negation) return Value::boolean(!is_true(value));
  if (value.is_undefined()) return in.undefined_error(value);
  if (value.is(Kind::big)) return too_big();
  if (!value.is_number()) return fail(Error::invalid, "a sign before {}", type_name(value));
  if (op == UnaryOp::plus)
    return value.is(Kind::boolean) ? Value::integer(value.as_integer()) : value;
  if (value.is(Kind::real)) return Value::real(-value.as_real());
  return apply_integers(BinaryOp::subtract, 0, value.as_integer());
}

}  // namespace mummu::jinja
