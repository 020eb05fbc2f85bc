// Filters that look at each of many values: by an attribute, a filter or a test.

#include "base/fail.h"
#include "text/jinja/compare.h"
#include "text/jinja/filter_table.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/print.h"
#include "text/jinja/select.h"

namespace mummu::jinja {

namespace {

bool truth_of(const Value& flag) { return !flag.is_missing() && is_true(flag); }

// The values to look at; what is false has none, whatever it is (Jinja2's map and select never walk
// over it).
Result<std::vector<Value>> items_of(Call& call) {
  if (!is_true(call.self)) return std::vector<Value>();
  return collect(call.in, call.self);
}

// The builtin that the first free argument names, which is taken away.
Result<const BuiltinInfo*> named_builtin(Call& call, const BuiltinInfo* (*find)(std::string_view),
                                         std::string_view what) {
  auto& positional = call.more.positional;
  if (positional.empty()) return fail(Error::invalid, "the name of a {} is missing", what);
  MUMMU_TRY(const Value name, string_argument(call.in, positional.front()));
  positional.erase(positional.begin());
  const BuiltinInfo* found = find(name.view());
  if (!found) return fail(Error::unsupported, "the {} '{}' is unsupported", what, name.view());
  return found;
}

Result<Value> map_attribute(Call& call, const Value& attribute, const Value& fallback) {
  MUMMU_TRY(const AttributePath path, AttributePath::of(call.in, attribute));
  MUMMU_TRY(std::vector<Value> items, items_of(call));
  for (Value& item : items) {
    MUMMU_TRY(item, path.get_or(call.in, item, fallback));
  }
  return make_generator(call.heap, std::move(items));
}

Result<Value> map(Call& call) {
  auto& named = call.more.named;
  const auto take = [&](std::string_view name) {
    Value out;
    for (size_t i = 0; i < named.size(); ++i) {
      if (named[i].name.view() != name) continue;
      out = named[i].value;
      named.erase(named.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    return out;
  };
  if (call.more.positional.empty()) {
    const Value attribute = take("attribute");
    const Value fallback = take("default");
    if (attribute.is_missing() || !named.empty())
      return fail(Error::invalid, "map: a filter or an attribute is missing");
    return map_attribute(call, attribute, fallback);
  }
  MUMMU_TRY(const BuiltinInfo* filter, named_builtin(call, find_filter, "filter"));
  MUMMU_TRY(std::vector<Value> items, items_of(call));
  for (Value& item : items) {
    Arguments copy = call.more;
    MUMMU_TRY(item, call_builtin(call.in, *filter, item, copy));
  }
  return make_generator(call.heap, std::move(items));
}

// Keeps the items for which a test holds (truth, where none is named) or does not.
Result<Value> keep(Call& call, bool wanted, const AttributePath& path) {
  const BuiltinInfo* test = nullptr;
  if (!call.more.positional.empty()) {
    MUMMU_TRY(test, named_builtin(call, find_test, "test"));
  }
  MUMMU_TRY(const std::vector<Value> items, items_of(call));
  std::vector<Value> out;
  for (const Value& item : items) {
    MUMMU_TRY(Value tested, path.get(call.in, item));
    if (test) {
      Arguments copy = call.more;
      MUMMU_TRY(tested, call_builtin(call.in, *test, tested, copy));
    }
    if (is_true(tested) == wanted) out.push_back(item);
  }
  return make_generator(call.heap, std::move(out));
}

template <bool wanted>
Result<Value> select(Call& call) {
  return keep(call, wanted, AttributePath());
}

template <bool wanted>
Result<Value> select_attribute(Call& call) {
  MUMMU_TRY(const AttributePath path, AttributePath::of(call.in, call.at[0]));
  return keep(call, wanted, path);
}

Result<Value> sorted(Call& call, std::vector<Value> items, const std::vector<Value>& keys,
                     bool reverse) {
  MUMMU_TRY(const auto order, sorted_order(call.in, keys, reverse));
  std::vector<Value> out;
  out.reserve(items.size());
  for (size_t i : order) out.push_back(std::move(items[i]));
  return make_list(call.heap, std::move(out));
}

Result<std::vector<Value>> keys_of(Call& call, const std::vector<Value>& items,
                                   const SortKey& key) {
  std::vector<Value> out;
  out.reserve(items.size());
  for (const Value& item : items) {
    MUMMU_TRY(Value value, key.get(call.in, item));
    out.push_back(std::move(value));
  }
  return out;
}

Result<Value> sort(Call& call) {
  MUMMU_TRY(const SortKey key, SortKey::of_several(call.in, call.at[2], truth_of(call.at[1])));
  MUMMU_TRY(std::vector<Value> items, collect(call.in, call.self));
  MUMMU_TRY(const std::vector<Value> keys, keys_of(call, items, key));
  return sorted(call, std::move(items), keys, truth_of(call.at[0]));
}

Result<Value> dict_sort(Call& call) {
  if (!call.self.is(Kind::dict))
    return fail(Error::invalid, "dictsort: a dict expected, not {}", type_name(call.self));
  const bool by_value = call.at[1].is_string() && call.at[1].view() == "value";
  const bool by_key =
      call.at[1].is_missing() || (call.at[1].is_string() && call.at[1].view() == "key");
  if (!by_value && !by_key) return fail(Error::invalid, "dictsort: by 'key' or 'value'");
  std::vector<Value> pairs, keys;
  for (const auto& [key, value] : call.self.dict().entries()) {
    MUMMU_TRY(Value pair, make_tuple(call.heap, {key, value}));
    pairs.push_back(std::move(pair));
    Value by = by_value ? value : key;
    if (!truth_of(call.at[0])) {
      MUMMU_TRY(by, without_case(call.heap, by));
    }
    keys.push_back(std::move(by));
  }
  return sorted(call, std::move(pairs), keys, truth_of(call.at[2]));
}

Result<Value> unique(Call& call) {
  MUMMU_TRY(const SortKey key, SortKey::of(call.in, call.at[1], truth_of(call.at[0])));
  MUMMU_TRY(const std::vector<Value> items, collect(call.in, call.self));
  std::vector<Value> out;
  const auto seen = make<DictObject>(call.heap, items.size() * DictObject::kEntryBytes);
  for (const Value& item : items) {
    MUMMU_TRY(Value by, key.get(call.in, item));
    MUMMU_TRY(check_hashable(by));
    if (seen->find(by)) continue;
    seen->set(std::move(by), Value::none());
    out.push_back(item);
  }
  return make_generator(call.heap, std::move(out));
}

template <bool smallest>
Result<Value> extreme(Call& call) {
  MUMMU_TRY(const SortKey key, SortKey::of(call.in, call.at[1], truth_of(call.at[0])));
  MUMMU_TRY(const std::vector<Value> items, collect(call.in, call.self));
  if (items.empty()) return Value::undefined({-1, Kind::missing, Absence::Reason::empty});
  MUMMU_TRY(const std::vector<Value> keys, keys_of(call, items, key));
  size_t best = 0;
  for (size_t i = 1; i < items.size(); ++i) {
    MUMMU_TRY(const bool better,
              smallest ? less(call.in, keys[i], keys[best]) : less(call.in, keys[best], keys[i]));
    if (better) best = i;
  }
  return items[best];
}

// Pairs of a key and the items that share it, sorted by key.
Result<Value> group_by(Call& call) {
  const bool case_sensitive = truth_of(call.at[2]);
  MUMMU_TRY(const AttributePath path, AttributePath::of(call.in, call.at[0]));
  MUMMU_TRY(const std::vector<Value> items, collect(call.in, call.self));
  std::vector<Value> groupers, keys;
  for (const Value& item : items) {
    MUMMU_TRY(Value grouper, path.get_or(call.in, item, call.at[1]));
    Value key = grouper;
    if (!case_sensitive) {
      MUMMU_TRY(key, without_case(call.heap, grouper));
    }
    groupers.push_back(std::move(grouper));
    keys.push_back(std::move(key));
  }
  MUMMU_TRY(const auto order, sorted_order(call.in, keys, false));
  std::vector<Value> out;
  for (size_t i = 0; i < order.size();) {
    const size_t first = order[i];
    std::vector<Value> group;
    for (bool same = true; same;) {
      group.push_back(items[order[i++]]);
      if (i == order.size()) break;
      MUMMU_TRY(same, equal(call.in, keys[first], keys[order[i]]));
    }
    MUMMU_TRY(Value list, make_list(call.heap, std::move(group)));
    MUMMU_TRY(Value pair, make_tuple(call.heap, {groupers[first], std::move(list)}));
    pair.object<ListObject>().group = true;
    out.push_back(std::move(pair));
  }
  return make_list(call.heap, std::move(out));
}

constexpr BuiltinInfo kFilters[] = {
    {"map", "* **", map},
    {"select", "* **", select<true>},
    {"reject", "* **", select<false>},
    {"selectattr", "attribute * **", select_attribute<true>},
    {"rejectattr", "attribute * **", select_attribute<false>},
    {"sort", "reverse? case_sensitive? attribute?", sort},
    {"dictsort", "case_sensitive? by? reverse?", dict_sort},
    {"unique", "case_sensitive? attribute?", unique},
    {"min", "case_sensitive? attribute?", extreme<true>},
    {"max", "case_sensitive? attribute?", extreme<false>},
    {"groupby", "attribute default? case_sensitive?", group_by},
};

}  // namespace

std::span<const BuiltinInfo> choice_filters() { return kFilters; }

}  // namespace mummu::jinja
