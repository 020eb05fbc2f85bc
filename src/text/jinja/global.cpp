// The functions that a template finds without being given them.

#include "base/fail.h"
#include "text/jinja/compare.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/print.h"
#include "text/jinja/strftime.h"

namespace mummu::jinja {

namespace {

constexpr int64_t kMaxRange = 100'000;  // as Jinja2's sandbox

Result<Value> raise_exception(Call& call) {
  MUMMU_TRY(const AsText message, AsText::of(call.in, call.at[0]));
  return fail(Error::invalid, "{}", message.view());
}

Result<Value> strftime_now(Call& call) {
  MUMMU_TRY(const Value format, string_argument(call.in, call.at[0]));
  MUMMU_TRY(std::string text, format_time(format.view(), call.in.now()));
  return make_string(call.heap, Text(std::move(text), format.text().highest()));
}

// How many values range(start, stop, step) has; the difference of two int64 can overflow one.
uint64_t range_size(int64_t start, int64_t stop, int64_t step) {
  const bool back = step < 0;
  if (back ? stop >= start : stop <= start) return 0;
  const uint64_t distance = back ? static_cast<uint64_t>(start) - static_cast<uint64_t>(stop)
                                 : static_cast<uint64_t>(stop) - static_cast<uint64_t>(start);
  const uint64_t stride = back ? 0 - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
  return (distance - 1) / stride + 1;
}

Result<Value> range(Call& call) {
  for (const Value& value : call.at) {
    if (!value.is_missing() && !value.is_integral()) {
      MUMMU_TRY(integer_argument(call.in, value, 0));
    }
  }
  const bool only_stop = call.at[1].is_missing();
  const int64_t start = only_stop ? 0 : call.at[0].as_integer();
  const int64_t stop = only_stop ? call.at[0].as_integer() : call.at[1].as_integer();
  const int64_t step = call.at[2].is_missing() ? 1 : call.at[2].as_integer();
  if (step == 0) return fail(Error::invalid, "range() with a step of 0");
  const uint64_t size = range_size(start, stop, step);
  if (size > static_cast<uint64_t>(kMaxRange))
    return fail(Error::invalid, "a range of more than {} values", kMaxRange);
  return Value(Kind::range,
               make<RangeObject>(call.heap, 0, start, stop, step, static_cast<int64_t>(size)));
}

// dict(mapping or pairs, **named).
Result<std::vector<DictObject::Entry>> entries_of(Call& call) {
  std::vector<DictObject::Entry> out;
  if (const Value& from = call.at[0]; from.is(Kind::dict)) {
    out = from.dict().entries();
  } else if (!from.is_missing()) {
    MUMMU_TRY(Iterator pairs, Iterator::over(call.in, from));
    while (true) {
      MUMMU_TRY(const Value pair, pairs.next());
      if (pair.is_missing()) break;
      MUMMU_TRY(const std::vector<Value> parts, collect(call.in, pair));
      if (parts.size() != 2) return fail(Error::invalid, "dict() wants pairs");
      out.emplace_back(parts[0], parts[1]);
    }
  }
  for (NamedValue& named : call.more.named)
    out.emplace_back(std::move(named.name), std::move(named.value));
  call.more.named.clear();
  return out;
}

Result<Value> dict(Call& call) {
  MUMMU_TRY(auto entries, entries_of(call));
  return make_dict(call.heap, std::move(entries));
}

Result<Value> space(Call& call) {
  MUMMU_TRY(auto entries, entries_of(call));
  const auto out = make<SpaceObject>(call.heap, entries.size() * DictObject::kEntryBytes);
  for (auto& [key, value] : entries) {
    MUMMU_TRY(check_hashable(key));
    if (key.is_string() && key.view().starts_with('_')) {
      return fail(Error::invalid, "a namespace cannot have the attribute '{}'", key.view());
    }
    out->attributes.set(std::move(key), std::move(value));
  }
  return Value(Kind::space, out);
}

Result<Value> cycler(Call& call) {
  if (call.more.positional.empty()) return fail(Error::invalid, "cycler() without items");
  auto& items = call.more.positional;
  const size_t bytes = items.size() * sizeof(Value);
  return Value(Kind::cycler, make<CyclerObject>(call.heap, bytes, std::move(items)));
}

Result<Value> joiner(Call& call) {
  Value separator = call.at[0];
  if (separator.is_missing()) {
    MUMMU_TRY(separator, make_string(call.heap, ", "));
  }
  return Value(Kind::joiner, make<JoinerObject>(call.heap, 0, std::move(separator)));
}

constexpr FunctionInfo kFunctions[] = {
    {{"raise_exception", "message", raise_exception}},
    {{"strftime_now", "format", strftime_now}},
    {{"range", "start stop? step?", range}},
    {{"dict", "mapping? **", dict}},
    {{"namespace", "mapping? **", space}},
    {{"cycler", "*", cycler}},
    {{"joiner", "sep?", joiner}},
};

}  // namespace

std::span<const FunctionInfo> functions() { return kFunctions; }

}  // namespace mummu::jinja
