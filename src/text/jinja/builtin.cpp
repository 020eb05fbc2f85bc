#include "text/jinja/builtin.h"

#include <algorithm>
#include <array>

#include "base/fail.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/print.h"

namespace mummu::jinja {

namespace {

constexpr size_t kMaxParameters = 8;

// Takes the next name of a parameter list; empty at the end.
std::string_view next_name(std::string_view& list) {
  const size_t start = std::min(list.find_first_not_of(' '), list.size());
  const size_t end = std::min(list.find(' ', start), list.size());
  const std::string_view name = list.substr(start, end - start);
  list.remove_prefix(end);
  return name;
}

// Moves the argument of this name out of the named ones; missing if it is not there.
Value take_named(std::vector<NamedValue>& named, std::string_view name) {
  for (size_t i = 0; i < named.size(); ++i) {
    if (named[i].name.view() != name) continue;
    Value out = std::move(named[i].value);
    named.erase(named.begin() + static_cast<std::ptrdiff_t>(i));
    return out;
  }
  return {};
}

}  // namespace

Result<Value> call_builtin(Interpreter& in, const BuiltinInfo& info, const Value& self,
                           Arguments& arguments) {
  MUMMU_TRY(in.heap().step());
  std::array<Value, kMaxParameters> bound;
  size_t count = 0, taken = 0;
  bool more_positional = false, more_named = false;
  for (std::string_view list = info.parameters, name = next_name(list); !name.empty();
       name = next_name(list)) {
    if (name == "*" || name == "**") {
      (name == "*" ? more_positional : more_named) = true;
      continue;
    }
    const bool optional = name.back() == '?';
    if (optional) name.remove_suffix(1);
    Value& value = bound[count++];
    value = take_named(arguments.named, name);
    if (taken < arguments.positional.size()) {
      if (!value.is_missing())
        return fail(Error::invalid, "{}: '{}' is given twice", info.name, name);
      value = std::move(arguments.positional[taken++]);
    }
    if (value.is_missing() && !optional)
      return fail(Error::invalid, "{}: '{}' is missing", info.name, name);
  }
  arguments.positional.erase(arguments.positional.begin(),
                             arguments.positional.begin() + static_cast<std::ptrdiff_t>(taken));
  if (!more_positional && !arguments.positional.empty()) {
    return fail(Error::invalid, "{}: too many arguments", info.name);
  }
  if (!more_named && !arguments.named.empty()) {
    return fail(Error::invalid, "{}: there is no argument '{}'", info.name,
                arguments.named.front().name.view());
  }
  Call call{in, in.heap(), self, std::span<const Value>(bound).first(count), arguments};
  return info.run(call);
}

Result<int64_t> integer_argument(Interpreter& in, const Value& value, int64_t fallback) {
  if (value.is_missing()) return fallback;
  if (value.is_integral()) return value.as_integer();
  if (value.is_undefined()) return in.undefined_error(value);
  return fail(Error::invalid, "an integer expected, not {}", type_name(value));
}

Result<Value> string_argument(Interpreter& in, const Value& value) {
  if (value.is_string()) return value;
  if (value.is_undefined()) return in.undefined_error(value);
  return fail(Error::invalid, "a string expected, not {}", type_name(value));
}

}  // namespace mummu::jinja
