#include <algorithm>

#include "base/fail.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/print.h"
#include "text/jinja/slice.h"

namespace mummu::jinja {

namespace {

bool is_dunder(std::string_view name) {
  return name.starts_with("__") && name.ends_with("__") && name.size() > 4;
}

Value absent(const Value& owner, int32_t number, Absence::Reason reason) {
  return Value::undefined({number, owner.kind(), reason});
}

// Attributes that are values: of namespaces, groups and loops. Missing if there is none of that
// name.
Result<Value> plain_attribute(Interpreter& in, const Value& owner, std::string_view name) {
  if (owner.is(Kind::space)) {
    const Value* value = owner.object<SpaceObject>().attributes.find(name);
    return value ? *value : Value();
  }
  if (owner.is(Kind::tuple) && owner.object<ListObject>().group) {
    if (name == "grouper") return owner.items()[0];
    if (name == "list") return owner.items()[1];
  }
  if (owner.is(Kind::range)) {
    const auto& range = owner.object<RangeObject>();
    if (name == "start") return Value::integer(range.start);
    if (name == "stop") return Value::integer(range.stop);
    if (name == "step") return Value::integer(range.step);
  }
  if (owner.is(Kind::macro) && name == "name") return make_string(in.heap(), in.macro_name(owner));
  if (owner.is(Kind::cycler) && name == "current") {
    const auto& cycler = owner.object<CyclerObject>();
    return cycler.items[cycler.at];
  }
  if (owner.is(Kind::loop)) {
    bool found = false;
    MUMMU_TRY(Value value, in.loop_attribute(owner, name, found));
    if (found) return value;
  }
  return Value();
}

// What Python's getattr finds; missing if nothing.
Result<Value> python_attribute(Interpreter& in, const Value& owner, std::string_view name,
                               int32_t number) {
  MUMMU_TRY(Value value, plain_attribute(in, owner, name));
  if (!value.is_missing()) return value;
  if (const BuiltinInfo* method = find_method(owner.kind(), name)) {
    if (!method->run) return absent(owner, number, Absence::Reason::unsafe);
    return Value(Kind::method, make<MethodObject>(in.heap(), 0, owner, *method));
  }
  if (is_dunder(name)) return absent(owner, number, Absence::Reason::unsafe);
  return Value();
}

// owner[index]; missing if there is no such element or no elements at all.
Result<Value> element(Interpreter& in, const Value& owner, const Value& index) {
  if (owner.is(Kind::dict)) {
    MUMMU_TRY(check_hashable(index));
    const Value* value = owner.dict().find(index);
    return value ? *value : Value();
  }
  if (!index.is_integral()) return Value();
  if (owner.is_sequence()) {
    const auto& items = owner.items();
    const int64_t size = static_cast<int64_t>(items.size()), i = index.as_integer();
    const int64_t at = i < 0 ? i + size : i;
    return at >= 0 && at < size ? items[static_cast<size_t>(at)] : Value();
  }
  if (owner.is(Kind::range)) {
    const auto& range = owner.object<RangeObject>();
    const int64_t at =
        index.as_integer() < 0 ? index.as_integer() + range.size : index.as_integer();
    return at >= 0 && at < range.size ? range_item(range, at) : Value();
  }
  return owner.is_string() ? character_at(in, owner, index.as_integer()) : Value();
}

}  // namespace

Result<Value> Interpreter::attribute(const Value& owner, std::string_view name, int32_t number) {
  MUMMU_TRY(heap_.step());
  if (owner.is_undefined()) return undefined_error(owner);
  if (owner.is(Kind::dict) && !name.starts_with('_')) {
    // Keys that are no method's name are by far the most frequent.
    const Value* value = owner.dict().find(name);
    if (value && !find_method(Kind::dict, name)) return *value;
  }
  MUMMU_TRY(Value value, python_attribute(*this, owner, name, number));
  if (!value.is_missing()) return value;
  if (owner.is(Kind::dict)) {
    if (const Value* entry = owner.dict().find(name)) return *entry;
  }
  return absent(owner, number, Absence::Reason::attribute);
}

Result<Value> Interpreter::item(const Value& owner, const Value& index) {
  MUMMU_TRY(heap_.step());
  if (owner.is_undefined()) return undefined_error(owner);
  if (owner.is(Kind::dict) && (index.is(Kind::list) || index.is(Kind::dict))) {
    return absent(
        owner, -1,
        Absence::Reason::element);  // unhashable: Python's TypeError, which Jinja takes for absence
  }
  MUMMU_TRY(Value value, element(*this, owner, index));
  if (!value.is_missing()) return value;
  if (!index.is_string()) return absent(owner, -1, Absence::Reason::element);
  const int32_t number = template_.names.find(index.view());
  MUMMU_TRY(value, python_attribute(*this, owner, index.view(), number));
  return value.is_missing() ? absent(owner, number, Absence::Reason::attribute) : value;
}

}  // namespace mummu::jinja
