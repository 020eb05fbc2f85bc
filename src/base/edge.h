#pragma once

// The edge of the library: every public function that can fail runs its body through at_edge, so
// that nothing is thrown into a host that may have been built without exceptions.

#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "mummu/result.h"

namespace mummu {

template <typename F>
auto at_edge(F&& body) noexcept -> std::invoke_result_t<F> {
  try {
    return std::forward<F>(body)();
  } catch (const std::bad_alloc&) {
    return Error{Error::Code::no_memory, "out of memory"};
  } catch (const std::exception& e) {
    try {
      return Error{Error::Code::internal, std::string("internal error: ") + e.what()};
    } catch (...) {
      return Error{Error::Code::no_memory, "out of memory"};
    }
  }
}

}  // namespace mummu
