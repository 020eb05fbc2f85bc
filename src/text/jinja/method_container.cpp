// Methods of lists, tuples, dicts and of what loops give. Those that would change a list or dict
// are forbidden, as Jinja2's immutable sandbox forbids them: they exist, and whoever calls one is
// refused.

#include <cmath>

#include "base/fail.h"
#include "text/jinja/compare.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/method_table.h"
#include "text/jinja/print.h"

namespace mummu::jinja {

namespace {

Result<Value> count(Call& call) {
  MUMMU_TRY(const std::vector<Value> items, collect(call.in, call.self));
  int64_t found = 0;
  for (const Value& item : items) {
    MUMMU_TRY(const bool same, equal(call.in, item, call.at[0]));
    found += same;
  }
  return Value::integer(found);
}

Result<Value> index(Call& call) {
  MUMMU_TRY(const std::vector<Value> items, collect(call.in, call.self));
  const auto size = static_cast<int64_t>(items.size());
  MUMMU_TRY(int64_t from, integer_argument(call.in, call.at[1], 0));
  MUMMU_TRY(int64_t to, integer_argument(call.in, call.at[2], size));
  from = std::max<int64_t>(from < 0 ? from + size : from, 0);
  to = std::min(to < 0 ? to + size : to, size);
  for (int64_t i = from; i < to; ++i) {
    MUMMU_TRY(const bool same, equal(call.in, items[static_cast<size_t>(i)], call.at[0]));
    if (same) return Value::integer(i);
  }
  return fail(Error::invalid, "index: the value is not in the {}", type_name(call.self));
}

Result<Value> copy(Call& call) { return call.self; }  // nothing can change the original

template <ViewObject::Part part>
Result<Value> view(Call& call) {
  return Value(Kind::view, make<ViewObject>(call.heap, 0, call.self, part));
}

Result<Value> get(Call& call) {
  MUMMU_TRY(check_hashable(call.at[0]));
  if (const Value* value = call.self.dict().find(call.at[0])) return *value;
  return call.at[1].is_missing() ? Value::none() : call.at[1];
}

Result<Value> from_keys(Call& call) {
  MUMMU_TRY(const std::vector<Value> keys, collect(call.in, call.at[0]));
  std::vector<DictObject::Entry> entries;
  for (const Value& key : keys)
    entries.emplace_back(key, call.at[1].is_missing() ? Value::none() : call.at[1]);
  return make_dict(call.heap, std::move(entries));
}

Result<Value> is_integer(Call& call) {
  const double value = call.self.as_real();
  return Value::boolean(std::isfinite(value) && value == std::floor(value));
}

Result<Value> cycle(Call& call) {
  auto& items = call.more.positional;
  if (items.empty()) return fail(Error::invalid, "loop.cycle() without items");
  const int64_t at = call.self.object<LoopObject>().index % static_cast<int64_t>(items.size());
  return items[static_cast<size_t>(at)];
}

Result<Value> changed(Call& call) {
  auto& loop = call.self.object<LoopObject>();
  MUMMU_TRY(Value now, make_tuple(call.heap, call.more.positional));
  MUMMU_TRY(const bool same,
            loop.changed.is_missing() ? Result<bool>(false) : equal(call.in, loop.changed, now));
  if (!same) loop.changed = std::move(now);
  return Value::boolean(!same);
}

Result<Value> next(Call& call) {
  auto& cycler = call.self.object<CyclerObject>();
  Value out = cycler.items[cycler.at];
  cycler.at = (cycler.at + 1) % cycler.items.size();
  return out;
}

Result<Value> reset(Call& call) {
  call.self.object<CyclerObject>().at = 0;
  return Value::none();
}

constexpr BuiltinInfo kList[] = {
    {"count", "value", count}, {"index", "value start? stop?", index},
    {"copy", "", copy},        {"append", "", nullptr},
    {"clear", "", nullptr},    {"extend", "", nullptr},
    {"insert", "", nullptr},   {"pop", "", nullptr},
    {"remove", "", nullptr},   {"reverse", "", nullptr},
    {"sort", "", nullptr},
};

constexpr BuiltinInfo kTuple[] = {
    {"count", "value", count},
    {"index", "value start? stop?", index},
};

constexpr BuiltinInfo kDict[] = {
    {"get", "key default?", get},
    {"items", "", view<ViewObject::Part::items>},
    {"keys", "", view<ViewObject::Part::keys>},
    {"values", "", view<ViewObject::Part::values>},
    {"copy", "", copy},
    {"fromkeys", "iterable value?", from_keys},
    {"clear", "", nullptr},
    {"pop", "", nullptr},
    {"popitem", "", nullptr},
    {"setdefault", "", nullptr},
    {"update", "", nullptr},
};

constexpr BuiltinInfo kReal[] = {{"is_integer", "", is_integer}};

constexpr BuiltinInfo kLoop[] = {{"cycle", "*", cycle}, {"changed", "*", changed}};

constexpr BuiltinInfo kCycler[] = {{"next", "", next}, {"reset", "", reset}};

}  // namespace

std::span<const BuiltinInfo> list_methods() { return kList; }
std::span<const BuiltinInfo> tuple_methods() { return kTuple; }
std::span<const BuiltinInfo> dict_methods() { return kDict; }
std::span<const BuiltinInfo> real_methods() { return kReal; }
std::span<const BuiltinInfo> loop_methods() { return kLoop; }
std::span<const BuiltinInfo> cycler_methods() { return kCycler; }

}  // namespace mummu::jinja
