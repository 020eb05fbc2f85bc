#pragma once

// Source to tree. What Jinja2 would refuse is invalid; what it would take and this dialect lacks is
// unsupported. Both name the construct and the line.

#include <string_view>

#include "text/jinja/ast.h"

namespace mummu::jinja {

constexpr size_t kMaxSource = size_t{512} << 10;  // bytes; the largest known template has 17 kB

//   errors   invalid, unsupported
Result<Template> parse_template(std::string_view source);

}  // namespace mummu::jinja
