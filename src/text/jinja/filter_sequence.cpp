// Filters of many values that treat them all alike.

#include "base/fail.h"
#include "text/jinja/compare.h"
#include "text/jinja/filter_table.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/select.h"
#include "text/jinja/text_operation.h"

namespace mummu::jinja {

namespace {

Value nothing_there() { return Value::undefined({-1, Kind::missing, Absence::Reason::empty}); }

Result<Value> length(Call& call) {
  MUMMU_TRY(const int64_t size, length_of(call.in, call.self));
  return Value::integer(size);
}

Result<Value> list(Call& call) {
  MUMMU_TRY(std::vector<Value> items, collect(call.in, call.self));
  return make_list(call.heap, std::move(items));
}

Result<Value> first(Call& call) {
  MUMMU_TRY(Iterator all, Iterator::over(call.in, call.self));
  MUMMU_TRY(Value value, all.next());
  return value.is_missing() ? nothing_there() : value;
}

Result<Value> last(Call& call) {
  if (call.self.is(Kind::generator)) return fail(Error::invalid, "a generator has no last item");
  MUMMU_TRY(const std::vector<Value> items, collect(call.in, call.self));
  return items.empty() ? nothing_there() : items.back();
}

Result<Value> reverse(Call& call) {
  if (call.self.is_string()) {
    MUMMU_TRY(std::vector<Value> letters, collect(call.in, call.self));
    TextBuilder out(call.heap);
    for (size_t i = letters.size(); i-- > 0;) out.add(letters[i].text());
    return finish_string(call.heap, out, call.self.string().safe);
  }
  MUMMU_TRY(std::vector<Value> items, collect(call.in, call.self));
  std::vector<Value> back(items.rbegin(), items.rend());
  return call.self.is(Kind::generator) ? make_list(call.heap, std::move(back))
                                       : make_generator(call.heap, std::move(back));
}

Result<Value> join_filter(Call& call) {
  MUMMU_TRY(std::vector<Value> items, collect(call.in, call.self));
  if (!call.at[1].is_missing() && !call.at[1].is_none()) {
    MUMMU_TRY(const AttributePath path, AttributePath::of(call.in, call.at[1]));
    for (Value& item : items) {
      MUMMU_TRY(item, path.get(call.in, item));
    }
  }
  Value separator = call.at[0];
  if (separator.is_missing()) {
    MUMMU_TRY(separator, make_string(call.heap, ""));
  }
  MUMMU_TRY(separator, to_string(call.in, separator));
  if (separator.string().safe) {
    MUMMU_TRY(separator, make_string(call.heap, separator.text()));
  }
  return join(call.in, separator, items);
}

Result<Value> sum(Call& call) {
  MUMMU_TRY(std::vector<Value> items, collect(call.in, call.self));
  Value out = call.at[1].is_missing() ? Value::integer(0) : call.at[1];
  if (out.is_string()) return fail(Error::invalid, "sum: strings cannot be summed, use join");
  const bool by_attribute = !call.at[0].is_missing() && !call.at[0].is_none();
  for (Value& item : items) {
    if (by_attribute) {
      MUMMU_TRY(const AttributePath path, AttributePath::of(call.in, call.at[0]));
      MUMMU_TRY(item, path.get(call.in, item));
    }
    MUMMU_TRY(out, apply(call.in, BinaryOp::add, out, item));
  }
  return out;
}

// Lists of `size` items; the last one filled up.
Result<Value> batch(Call& call) {
  MUMMU_TRY(const int64_t size, integer_argument(call.in, call.at[0], 1));
  MUMMU_TRY(std::vector<Value> items, collect(call.in, call.self));
  std::vector<Value> out, row;
  const auto finish_row = [&]() -> Result<void> {
    MUMMU_TRY(Value list, make_list(call.heap, std::exchange(row, {})));
    out.push_back(std::move(list));
    return {};
  };
  for (Value& item : items) {
    if (static_cast<int64_t>(row.size()) == size) MUMMU_TRY(finish_row());
    row.push_back(std::move(item));
  }
  if (!row.empty()) {
    if (!call.at[1].is_missing() && !call.at[1].is_none()) {
      while (static_cast<int64_t>(row.size()) < size) {
        MUMMU_TRY(call.heap.step());
        row.push_back(call.at[1]);
      }
    }
    MUMMU_TRY(finish_row());
  }
  return make_generator(call.heap, std::move(out));
}

// So many lists of nearly equal size; the shorter ones filled up.
Result<Value> slice(Call& call) {
  MUMMU_TRY(const int64_t slices, integer_argument(call.in, call.at[0], 1));
  if (slices == 0) return fail(Error::invalid, "slice: division by zero");
  MUMMU_TRY(const std::vector<Value> items, collect(call.in, call.self));
  const auto count = static_cast<int64_t>(items.size());
  const int64_t each = count / slices, longer = count % slices;
  std::vector<Value> out;
  int64_t at = 0;
  for (int64_t i = 0; i < slices; ++i) {
    const int64_t size = each + (i < longer ? 1 : 0);
    std::vector<Value> row(items.begin() + at, items.begin() + at + size);
    at += size;
    const bool filled = !call.at[1].is_missing() && !call.at[1].is_none() && i >= longer;
    if (filled) row.push_back(call.at[1]);
    MUMMU_TRY(Value list, make_list(call.heap, std::move(row)));
    out.push_back(std::move(list));
  }
  return make_generator(call.heap, std::move(out));
}

Result<Value> items(Call& call) {
  if (call.self.is_undefined()) return make_generator(call.heap, {});
  if (!call.self.is(Kind::dict))
    return fail(Error::invalid, "items: a dict expected, not {}", type_name(call.self));
  const Value view(Kind::view, make<ViewObject>(call.heap, 0, call.self, ViewObject::Part::items));
  MUMMU_TRY(std::vector<Value> pairs, collect(call.in, view));
  return make_generator(call.heap, std::move(pairs));
}

constexpr BuiltinInfo kFilters[] = {
    {"length", "", length},
    {"count", "", length},
    {"list", "", list},
    {"first", "", first},
    {"last", "", last},
    {"reverse", "", reverse},
    {"join", "d? attribute?", join_filter},
    {"sum", "attribute? start?", sum},
    {"batch", "linecount fill_with?", batch},
    {"slice", "slices fill_with?", slice},
    {"items", "", items},
};

}  // namespace

std::span<const BuiltinInfo> sequence_filters() { return kFilters; }

}  // namespace mummu::jinja
