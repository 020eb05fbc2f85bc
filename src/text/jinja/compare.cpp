#include "text/jinja/compare.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/fail.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/number.h"
#include "text/jinja/print.h"
#include "text/jinja/search.h"

namespace mummu::jinja {

bool is_true(const Value& value) {
  switch (value.kind()) {
    case Kind::missing:
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
    case Kind::integer:
      return value.as_integer() != 0;
    case Kind::real:
      return value.as_real() != 0;
    case Kind::string:
      return !value.text().empty();
    case Kind::list:
    case Kind::tuple:
      return !value.items().empty();
    case Kind::dict:
      return value.dict().size() > 0;
    case Kind::view:
      return value.object<ViewObject>().dict.dict().size() > 0;
    case Kind::range:
      return value.object<RangeObject>().size > 0;
    default:
      return true;
  }
}

namespace {

template <typename T>
int three_way(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

// An integer against a double, exactly.
int order_mixed(int64_t a, double b) {
  if (std::isnan(b)) return -1;
  if (b >= 0x1p63) return -1;
  if (b < -0x1p63) return 1;
  const double whole = std::floor(b);
  const int order = three_way(a, static_cast<int64_t>(whole));
  return order != 0 ? order : whole < b ? -1 : 0;
}

double big_to_real(const Value& value) {
  double out = 0;
  parse_real(value.object<BigObject>().digits, out);
  return out;
}

// Big integers lie outside what int64 holds, so their sign and length decide.
int order_big(const Value& a, const Value& b) {
  const auto digits = [](const Value& v) -> std::string_view {
    return v.object<BigObject>().digits;
  };
  const auto sign = [&](const Value& v) { return digits(v).front() == '-' ? -1 : 1; };
  if (a.is(Kind::real)) return three_way(a.as_real(), big_to_real(b));
  if (b.is(Kind::real)) return three_way(big_to_real(a), b.as_real());
  if (!a.is(Kind::big)) return -sign(b);
  if (!b.is(Kind::big)) return sign(a);
  if (sign(a) != sign(b)) return sign(a);
  const auto key = [&](const Value& v) { return std::pair(digits(v).size(), digits(v)); };
  return sign(a) * three_way(key(a), key(b));
}

bool is_nan(const Value& value) { return value.is(Kind::real) && std::isnan(value.as_real()); }

constexpr int kMaxDepth = 100;

class Comparer {
 public:
  explicit Comparer(Interpreter& in) : in_(in) {}

  Result<bool> equal(const Value& a, const Value& b, int depth) {
    MUMMU_TRY(in_.heap().step());
    if (depth > kMaxDepth) return fail(Error::invalid, "a comparison of values nested too deeply");
    if (a.is_number() && b.is_number()) return number_equal(a, b);
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
      case Kind::none:
      case Kind::undefined:
        return true;
      case Kind::string:
        MUMMU_TRY(in_.heap().work(std::min(a.text().size(), b.text().size())));
        return a.view() == b.view();
      case Kind::list:
      case Kind::tuple:
        return equal_items(a.items(), b.items(), depth + 1);
      case Kind::dict:
        return equal_dicts(a.dict(), b.dict(), depth + 1);
      case Kind::range:
        return equal_ranges(a.object<RangeObject>(), b.object<RangeObject>());
      case Kind::function:
        return &a.as_function() == &b.as_function();
      default:
        return a.identity() == b.identity();
    }
  }

  Result<int> order(const Value& a, const Value& b, int depth) {
    MUMMU_TRY(in_.heap().step());
    if (depth > kMaxDepth) return fail(Error::invalid, "a comparison of values nested too deeply");
    if (a.is_number() && b.is_number()) {
      return a.is(Kind::big) || b.is(Kind::big) ? order_big(a, b) : number_order(a, b);
    }
    if (a.is_string() && b.is_string()) return three_way(a.view(), b.view());
    if (a.is_sequence() && a.kind() == b.kind())
      return order_items(a.items(), b.items(), depth + 1);
    if (a.is_undefined()) return in_.undefined_error(a);
    if (b.is_undefined()) return in_.undefined_error(b);
    return fail(Error::invalid, "values of {} and {} have no order", type_name(a), type_name(b));
  }

 private:
  static bool number_equal(const Value& a, const Value& b) {
    if (is_nan(a) || is_nan(b)) return false;
    return (a.is(Kind::big) || b.is(Kind::big) ? order_big(a, b) : number_order(a, b)) == 0;
  }

  Result<bool> equal_items(const std::vector<Value>& a, const std::vector<Value>& b, int depth) {
    if (a.size() != b.size()) return false;
    for (size_t i = 0; i < a.size(); ++i) {
      MUMMU_TRY(const bool same, equal(a[i], b[i], depth));
      if (!same) return false;
    }
    return true;
  }

  Result<bool> equal_dicts(const DictObject& a, const DictObject& b, int depth) {
    if (a.size() != b.size()) return false;
    for (const auto& [key, value] : a.entries()) {
      const Value* other = b.find(key);
      if (!other) return false;
      MUMMU_TRY(const bool same, equal(value, *other, depth));
      if (!same) return false;
    }
    return true;
  }

  static bool equal_ranges(const RangeObject& a, const RangeObject& b) {
    if (a.size != b.size || a.size == 0) return a.size == b.size;
    return a.start == b.start && (a.size == 1 || a.step == b.step);
  }

  Result<int> order_items(const std::vector<Value>& a, const std::vector<Value>& b, int depth) {
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      MUMMU_TRY(const bool same, equal(a[i], b[i], depth));
      if (!same) return order(a[i], b[i], depth);
    }
    return three_way(a.size(), b.size());
  }

  Interpreter& in_;
};

}  // namespace

int number_order(const Value& a, const Value& b) {
  if (!a.is(Kind::real) && !b.is(Kind::real)) return three_way(a.as_integer(), b.as_integer());
  if (!a.is(Kind::real)) return order_mixed(a.as_integer(), b.as_real());
  if (!b.is(Kind::real)) return -order_mixed(b.as_integer(), a.as_real());
  if (is_nan(a) || is_nan(b)) return (is_nan(a) ? 1 : 0) - (is_nan(b) ? 1 : 0);
  return three_way(a.as_real(), b.as_real());
}

Result<bool> equal(Interpreter& in, const Value& a, const Value& b) {
  return Comparer(in).equal(a, b, 0);
}

Result<bool> less(Interpreter& in, const Value& a, const Value& b) {
  MUMMU_TRY(const int order, Comparer(in).order(a, b, 0));
  return order < 0 && !is_nan(a) && !is_nan(b);
}

Result<bool> less_or_equal(Interpreter& in, const Value& a, const Value& b) {
  MUMMU_TRY(const int order, Comparer(in).order(a, b, 0));
  return order <= 0 && !is_nan(a) && !is_nan(b);
}

Result<bool> contains(Interpreter& in, const Value& container, const Value& item) {
  if (container.is_string()) {
    if (!item.is_string()) {
      return fail(Error::invalid, "'in <string>' needs a string on the left, not {}",
                  type_name(item));
    }
    MUMMU_TRY(in.heap().work(container.text().size()));
    return find_first(container.view(), item.view()) != std::string_view::npos;
  }
  if (container.is(Kind::dict)) {
    MUMMU_TRY(check_hashable(item));
    return container.dict().find(item) != nullptr;
  }
  MUMMU_TRY(Iterator all, Iterator::over(in, container));
  while (true) {
    MUMMU_TRY(Value next, all.next());
    if (next.is_missing()) return false;
    MUMMU_TRY(const bool same, equal(in, next, item));
    if (same) return true;
  }
}

namespace {

// A stable merge sort; std::stable_sort cannot stop at an error.
Result<void> merge_sort(Interpreter& in, const std::vector<Value>& keys, bool reverse,
                        std::vector<size_t>& order, std::vector<size_t>& scratch) {
  for (size_t width = 1; width < order.size(); width *= 2) {
    for (size_t begin = 0; begin < order.size(); begin += 2 * width) {
      const size_t middle = std::min(begin + width, order.size()),
                   end = std::min(begin + 2 * width, order.size());
      size_t left = begin, right = middle;
      for (size_t i = begin; i < end; ++i) {
        bool take_right = left == middle;
        if (!take_right && right < end) {
          const Value& a = keys[order[left]];
          const Value& b = keys[order[right]];
          MUMMU_TRY(take_right, reverse ? less(in, a, b) : less(in, b, a));
        }
        scratch[i] = take_right ? order[right++] : order[left++];
      }
    }
    order.swap(scratch);
  }
  return {};
}

}  // namespace

Result<std::vector<size_t>> sorted_order(Interpreter& in, const std::vector<Value>& keys,
                                         bool reverse) {
  std::vector<size_t> order(keys.size()), scratch(keys.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  MUMMU_TRY(merge_sort(in, keys, reverse, order, scratch));
  return order;
}

}  // namespace mummu::jinja
