#pragma once

// Runs code in the default floating-point environment (round to nearest even, denormals kept, all
// exceptions masked), whatever the host has set, and puts the host's back afterwards, also when the
// code throws. Every entry that computes and every thread of a pool runs its work through here.
// The code is called through a pointer that the compiler cannot see through: it would otherwise
// move arithmetic across the change of mode.

#include <optional>
#include <type_traits>
#include <utility>

namespace mummu {

// Calls call(context) in the default environment of the calling thread.
void call_in_default_float_environment(void (*call)(void*), void* context);

// Returns f(), run in the default environment of the calling thread.
//   requires  f returns a value or nothing, no reference
template <typename F>
auto run_in_default_float_environment(F&& f) -> std::invoke_result_t<F&> {
  using R = std::invoke_result_t<F&>;
  if constexpr (std::is_void_v<R>) {
    using Plain = std::remove_reference_t<F>;
    call_in_default_float_environment([](void* context) { (*static_cast<Plain*>(context))(); },
                                      const_cast<void*>(static_cast<const void*>(&f)));
  } else {
    std::optional<R> result;
    auto body = [&] { result.emplace(f()); };
    run_in_default_float_environment(body);
    return *std::move(result);
  }
}

}  // namespace mummu
