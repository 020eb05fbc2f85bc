#pragma once

// The filters by theme; filter.cpp joins them into one table.

#include <span>

#include "text/jinja/builtin.h"

namespace mummu::jinja {

std::span<const BuiltinInfo> text_filters();      // of a text
std::span<const BuiltinInfo> sequence_filters();  // of many values
std::span<const BuiltinInfo>
choice_filters();  // select, map, sort and others that look at each of many values
std::span<const BuiltinInfo> value_filters();  // of any value

}  // namespace mummu::jinja
