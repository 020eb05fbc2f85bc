#pragma once

// fail(Error::corrupt, "{}: {} bytes expected, {} found", path, a, b): an Error with a formatted
// message.

#include <fmt/format.h>

#include <utility>

#include "mummu/result.h"

namespace mummu {

template <typename... Args>
Error fail(Error::Code code, fmt::format_string<Args...> format, Args&&... args) {
  return Error{code, fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace mummu
