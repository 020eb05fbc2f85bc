#pragma once

// The edge of the library: every public function that can fail runs its body through at_edge, so
// that nothing is thrown into a host that may have been built without exceptions. What a host's own
// callback throws ends there too, whatever it is.

#include <cxxabi.h>

#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "mummu/result.h"

namespace mummu {

// Where there is no memory for the message the error says that instead.
inline Error internal_error(const char* what) noexcept {
  try {
    return Error{Error::Code::internal, std::string("internal error: ") + what};
  } catch (...) {
    return Error{Error::Code::no_memory, "out of memory"};
  }
}

// Not noexcept: where a callback ends its thread (pthread_exit, pthread_cancel), glibc unwinds the
// stack as if by an exception, and ends the process if that is caught for good.
template <typename F>
auto at_edge(F&& body) -> std::invoke_result_t<F> {
  try {
    return std::forward<F>(body)();
  } catch (const std::bad_alloc&) {
    return Error{Error::Code::no_memory, "out of memory"};
  } catch (const std::exception& e) {
    return internal_error(e.what());
#ifdef __GLIBCXX__
  } catch (const abi::__forced_unwind&) {
    throw;
#endif
  } catch (...) {
    return internal_error("a callback of the host threw something that is no std::exception");
  }
}

}  // namespace mummu
