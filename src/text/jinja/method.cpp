#include <algorithm>

#include "text/jinja/method_table.h"

namespace mummu::jinja {

namespace {

const BuiltinInfo* find(std::span<const BuiltinInfo> methods, std::string_view name) {
  const auto found = std::find_if(methods.begin(), methods.end(),
                                  [&](const BuiltinInfo& m) { return m.name == name; });
  return found == methods.end() ? nullptr : &*found;
}

}  // namespace

const BuiltinInfo* find_method(Kind kind, std::string_view name) {
  switch (kind) {
    case Kind::string: {
      const BuiltinInfo* method = find(string_methods(), name);
      return method ? method : find(string_questions(), name);
    }
    case Kind::list:
      return find(list_methods(), name);
    case Kind::range:
    case Kind::tuple:
      return find(tuple_methods(), name);
    case Kind::dict:
      return find(dict_methods(), name);
    case Kind::real:
      return find(real_methods(), name);
    case Kind::loop:
      return find(loop_methods(), name);
    case Kind::cycler:
      return find(cycler_methods(), name);
    default:
      return nullptr;
  }
}

}  // namespace mummu::jinja
