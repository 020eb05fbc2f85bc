#pragma once

// strftime in the C locale, in UTC.

#include <cstdint>
#include <string>
#include <string_view>

#include "mummu/result.h"

namespace mummu::jinja {

//   now      seconds since 1970-01-01T00:00:00Z
//   errors   unsupported (a directive that this lacks), invalid (too long)
Result<std::string> format_time(std::string_view format, int64_t now);

}  // namespace mummu::jinja
