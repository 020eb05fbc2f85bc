#pragma once

// For tests: how often this program has called operator new. It counts only in a program one of
// whose files includes base/count_allocations.h.

#include <atomic>
#include <cstdint>

namespace mummu::test {

inline std::atomic<int64_t> allocations{0};

// The allocations that f() makes, on all threads.
template <typename F>
int64_t count_allocations(F&& f) {
  const int64_t before = allocations.load();
  f();
  return allocations.load() - before;
}

}  // namespace mummu::test
