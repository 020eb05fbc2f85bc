#pragma once

// The methods by the kind of value that has them; method.cpp chooses.

#include <span>

#include "text/jinja/builtin.h"

namespace mummu::jinja {

std::span<const BuiltinInfo> string_methods();    // that give texts
std::span<const BuiltinInfo> string_questions();  // that give anything else
std::span<const BuiltinInfo> list_methods();
std::span<const BuiltinInfo> tuple_methods();
std::span<const BuiltinInfo> dict_methods();
std::span<const BuiltinInfo> real_methods();
std::span<const BuiltinInfo> loop_methods();
std::span<const BuiltinInfo> cycler_methods();

}  // namespace mummu::jinja
