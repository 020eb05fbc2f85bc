// The tests behind `is`.

#include <algorithm>

#include "base/fail.h"
#include "text/jinja/character.h"
#include "text/jinja/compare.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

namespace {

template <bool (*holds)(const Value&)>
Result<Value> plain(Call& call) {
  return Value::boolean(holds(call.self));
}

template <Kind kind>
bool has_kind(const Value& value) {
  return value.is(kind);
}

bool is_defined(const Value& value) { return !value.is_undefined(); }
bool is_whole(const Value& value) { return value.is(Kind::integer) || value.is(Kind::big); }
bool is_a_true(const Value& value) { return value.is(Kind::boolean) && value.as_bool(); }
bool is_a_false(const Value& value) { return value.is(Kind::boolean) && !value.as_bool(); }
bool is_marked(const Value& value) { return value.is_string() && value.string().safe; }

// Python's rule: has a length and takes a subscript.
bool is_a_sequence(const Value& value) {
  return value.is_string() || value.is_sequence() || value.is(Kind::dict) ||
         value.is(Kind::range) || value.is_undefined();
}

bool is_callable(const Value& value) {
  switch (value.kind()) {
    case Kind::macro:
    case Kind::function:
    case Kind::method:
    case Kind::loop:
    case Kind::joiner:
    case Kind::undefined:
      return true;
    default:
      return false;
  }
}

template <bool (*has)(char32_t), bool (*spoils)(char32_t)>
Result<Value> all_cased(Call& call) {
  MUMMU_TRY(const AsText text, AsText::of(call.in, call.self));
  MUMMU_TRY(call.heap.work(text.view().size()));
  bool any = false;
  for (size_t at = 0; at < text.view().size();) {
    const char32_t point = next_point(text.view(), at);
    if (spoils(point) || is_title(point)) return Value::boolean(false);
    any |= has(point);
  }
  return Value::boolean(any);
}

Result<Value> divides(Call& call, const Value& by, int64_t rest) {
  MUMMU_TRY(const Value modulo, apply(call.in, BinaryOp::modulo, call.self, by));
  MUMMU_TRY(const bool same, equal(call.in, modulo, Value::integer(rest)));
  return Value::boolean(same);
}

Result<Value> odd(Call& call) { return divides(call, Value::integer(2), 1); }
Result<Value> even(Call& call) { return divides(call, Value::integer(2), 0); }
Result<Value> divisible(Call& call) { return divides(call, call.at[0], 0); }

template <CompareOp op>
Result<Value> compared(Call& call) {
  const Value& a = call.self;
  const Value& b = call.at[0];
  MUMMU_TRY(const bool holds, op == CompareOp::equal || op == CompareOp::unequal
                                  ? equal(call.in, a, b)
                              : op == CompareOp::less          ? less(call.in, a, b)
                              : op == CompareOp::greater       ? less(call.in, b, a)
                              : op == CompareOp::less_equal    ? less_or_equal(call.in, a, b)
                              : op == CompareOp::greater_equal ? less_or_equal(call.in, b, a)
                                                               : contains(call.in, b, a));
  return Value::boolean(holds != (op == CompareOp::unequal));
}

Result<Value> same_as(Call& call) {
  const Value& a = call.self;
  const Value& b = call.at[0];
  if (a.kind() != b.kind()) return Value::boolean(false);
  switch (a.kind()) {
    case Kind::none:
      return Value::boolean(true);
    case Kind::boolean:
      return Value::boolean(a.as_bool() == b.as_bool());
    case Kind::integer:
    case Kind::real:
    case Kind::string:
      return fail(Error::unsupported, "'sameas' of {} is unsupported", type_name(a));
    default:
      return Value::boolean(a.identity() == b.identity());
  }
}

template <const BuiltinInfo* (*find)(std::string_view)>
Result<Value> is_known(Call& call) {
  return Value::boolean(call.self.is_string() && find(call.self.view()) != nullptr);
}

constexpr BuiltinInfo kTests[] = {
    {"defined", "", plain<is_defined>},
    {"undefined", "", plain<has_kind<Kind::undefined>>},
    {"none", "", plain<has_kind<Kind::none>>},
    {"boolean", "", plain<has_kind<Kind::boolean>>},
    {"true", "", plain<is_a_true>},
    {"false", "", plain<is_a_false>},
    {"integer", "", plain<is_whole>},
    {"float", "", plain<has_kind<Kind::real>>},
    {"number", "",
     [](Call& call) -> Result<Value> { return Value::boolean(call.self.is_number()); }},
    {"string", "", plain<has_kind<Kind::string>>},
    {"mapping", "", plain<has_kind<Kind::dict>>},
    {"sequence", "", plain<is_a_sequence>},
    {"iterable", "", plain<is_iterable>},
    {"callable", "", plain<is_callable>},
    {"escaped", "", plain<is_marked>},
    {"lower", "", all_cased<is_lower, is_upper>},
    {"upper", "", all_cased<is_upper, is_lower>},
    {"odd", "", odd},
    {"even", "", even},
    {"divisibleby", "num", divisible},
    {"sameas", "other", same_as},
    {"in", "seq", compared<CompareOp::in>},
    {"eq", "other", compared<CompareOp::equal>},
    {"equalto", "other", compared<CompareOp::equal>},
    {"==", "other", compared<CompareOp::equal>},
    {"ne", "other", compared<CompareOp::unequal>},
    {"!=", "other", compared<CompareOp::unequal>},
    {"lt", "other", compared<CompareOp::less>},
    {"lessthan", "other", compared<CompareOp::less>},
    {"<", "other", compared<CompareOp::less>},
    {"le", "other", compared<CompareOp::less_equal>},
    {"<=", "other", compared<CompareOp::less_equal>},
    {"gt", "other", compared<CompareOp::greater>},
    {"greaterthan", "other", compared<CompareOp::greater>},
    {">", "other", compared<CompareOp::greater>},
    {"ge", "other", compared<CompareOp::greater_equal>},
    {">=", "other", compared<CompareOp::greater_equal>},
    {"filter", "", is_known<find_filter>},
    {"test", "", is_known<find_test>},
};

}  // namespace

const BuiltinInfo* find_test(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTests), std::end(kTests),
                                   [&](const BuiltinInfo& t) { return t.name == name; });
  return found == std::end(kTests) ? nullptr : found;
}

}  // namespace mummu::jinja
