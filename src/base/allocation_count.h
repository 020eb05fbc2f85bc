#pragma once

// For tests: how often this program has called operator new, and making one of its calls fail. It
// counts only in a program one of whose files includes base/count_allocations.h.

#include <atomic>
#include <cstdint>

namespace mummu::test {

inline std::atomic<int64_t> allocations{0};

// How many allocations of this thread still succeed before one fails; negative: all do. Where a
// sanitizer allocates, none fails.
inline thread_local int64_t allocations_until_failure = -1;

// Runs f() while its allocation number `which` (from 0) fails; whether there was such a one.
template <typename F>
bool with_failing_allocation(int64_t which, F&& f) {
  allocations_until_failure = which;
  f();
  const bool failed = allocations_until_failure < 0;
  allocations_until_failure = -1;
  return failed;
}

// The allocations that f() makes, on all threads.
template <typename F>
int64_t count_allocations(F&& f) {
  const int64_t before = allocations.load();
  f();
  return allocations.load() - before;
}

}  // namespace mummu::test
