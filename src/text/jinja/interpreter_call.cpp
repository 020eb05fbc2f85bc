#include <algorithm>

#include "base/fail.h"
#include "text/jinja/depth.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/print.h"

namespace mummu::jinja {

Error Interpreter::undefined_error(const Value& undefined) const {
  const Absence absence = undefined.absence();
  const std::string_view name = absence.name < 0 ? "?" : names().text(absence.name);
  const auto owner = [&]() -> std::string_view {
    const char* kNames[] = {"nothing", "undefined", "None",   "a bool",  "an int", "a float",
                            "an int",  "a str",     "a list", "a tuple", "a dict"};
    const auto kind = static_cast<size_t>(absence.owner);
    return kind < std::size(kNames) ? kNames[kind] : "a value";
  };
  switch (absence.reason) {
    case Absence::Reason::name:
      return fail(Error::invalid, "'{}' is undefined", name);
    case Absence::Reason::attribute:
      if (absence.name < 0)
        return fail(Error::invalid, "{} lacks an attribute that was asked for", owner());
      return fail(Error::invalid, "{} has no attribute '{}'", owner(), name);
    case Absence::Reason::element:
      return fail(Error::invalid, "{} has no such element", owner());
    case Absence::Reason::unsafe:
      return fail(Error::invalid, "the attribute '{}' of {} is forbidden", name, owner());
    case Absence::Reason::parameter:
      return fail(Error::invalid, "parameter '{}' was not provided", name);
    case Absence::Reason::caller:
      return fail(Error::invalid, "no caller defined");
    case Absence::Reason::no_else:
      return fail(Error::invalid, "a condition without 'else' was false");
    case Absence::Reason::empty:
      break;
  }
  return fail(Error::invalid, "there is no such item");
}

std::string_view Interpreter::macro_name(const Value& macro) const {
  const int32_t name = macro.object<MacroObject>().code.name;
  return name < 0 ? "caller" : names().text(name);
}

Result<Value> Interpreter::call(const Value& callee, Arguments& arguments) {
  MUMMU_TRY(heap_.step());
  switch (callee.kind()) {
    case Kind::undefined:
      return undefined_error(callee);
    case Kind::macro:
      return call_macro(callee, arguments);
    case Kind::loop:
      return call_loop(callee, arguments);
    case Kind::function:
      return call_builtin(*this, callee.as_function(), Value(), arguments);
    case Kind::method: {
      const auto& method = callee.object<MethodObject>();
      return call_builtin(*this, method.info, method.owner, arguments);
    }
    case Kind::joiner: {
      auto& joiner = callee.object<JoinerObject>();
      if (std::exchange(joiner.used, true)) return joiner.separator;
      return make_string(heap_, "");
    }
    default:
      return fail(Error::invalid, "{} is not callable", type_name(callee));
  }
}

Result<Value> Interpreter::call_macro(const Value& value, Arguments& arguments) {
  const auto& macro = value.object<MacroObject>();
  const Depth depth(calls_);
  if (calls_ > kMaxCalls) return fail(Error::invalid, "recursion more than {} deep", kMaxCalls);
  Ref<Scope> scope = make<Scope>(heap_, 0, macro.scope);
  std::swap(scope_, scope);
  MUMMU_TRY(bind_parameters(macro, arguments, *scope_));
  TextBuilder out(heap_);
  MUMMU_TRY(exec(macro.code.body, out));
  std::swap(scope_, scope);
  return finish_string(heap_, out);
}

// Sorts arguments into parameters; defaults are evaluated in the macro's own scope, in order.
Result<void> Interpreter::bind_parameters(const MacroObject& macro, Arguments& arguments,
                                          Scope& scope) {
  const auto& parameters = macro.code.parameters;
  const size_t given = std::min(arguments.positional.size(), parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string_view name = names().text(parameters[i].name);
    const auto named = std::find_if(arguments.named.begin(), arguments.named.end(),
                                    [&](const NamedValue& n) { return n.name.view() == name; });
    if (i < given) {
      scope.set(parameters[i].name, arguments.positional[i]);
    } else if (named != arguments.named.end()) {
      scope.set(parameters[i].name, named->value);
      arguments.named.erase(named);
    } else if (parameters[i].fallback) {
      MUMMU_TRY(Value value, eval(*parameters[i].fallback));
      scope.set(parameters[i].name, std::move(value));
    } else {
      scope.set(parameters[i].name,
                Value::undefined({parameters[i].name, Kind::missing, Absence::Reason::parameter}));
    }
  }
  return bind_rest(macro, arguments, given, scope);
}

Result<void> Interpreter::bind_rest(const MacroObject& macro, Arguments& arguments, size_t taken,
                                    Scope& scope) {
  const auto caller = std::find_if(arguments.named.begin(), arguments.named.end(),
                                   [](const NamedValue& n) { return n.name.view() == "caller"; });
  if (macro.code.uses_caller) {
    const int32_t name = names().find("caller");
    const bool given = caller != arguments.named.end();
    scope.set(name, given ? caller->value
                          : Value::undefined({name, Kind::missing, Absence::Reason::caller}));
    if (given) arguments.named.erase(caller);
  }
  if (macro.code.uses_kwargs) {
    std::vector<DictObject::Entry> entries;
    for (NamedValue& n : arguments.named)
      entries.emplace_back(std::move(n.name), std::move(n.value));
    MUMMU_TRY(Value kwargs, make_dict(heap_, std::move(entries)));
    scope.set(names().find("kwargs"), std::move(kwargs));
  } else if (!arguments.named.empty()) {
    return fail(Error::invalid, "the macro takes no argument '{}'",
                arguments.named.front().name.view());
  }
  std::vector<Value> rest(arguments.positional.begin() + static_cast<std::ptrdiff_t>(taken),
                          arguments.positional.end());
  if (macro.code.uses_varargs) {
    MUMMU_TRY(Value varargs, make_tuple(heap_, std::move(rest)));
    scope.set(names().find("varargs"), std::move(varargs));
  } else if (!rest.empty()) {
    return fail(Error::invalid, "the macro takes {} arguments at most", taken);
  }
  return {};
}

}  // namespace mummu::jinja
