#pragma once

// For tests: makes a test program count its allocations, so that a test can say "a step allocates
// nothing". Include it in exactly one file of a test program; every file of the program may then
// use base/allocation_count.h. It replaces the global operator new and delete; where a sanitizer
// owns those, it listens to the sanitizer instead.

#include <cstddef>
#include <cstdlib>
#include <new>

#include "base/allocation_count.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MUMMU_SANITIZER_ALLOCATES 1
#endif
#endif

#if defined(MUMMU_SANITIZER_ALLOCATES)

extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*,
                                                                             std::size_t),
                                                         void (*free_hook)(const volatile void*));

namespace mummu::test {

// The hooks may run before any constructor of the program and after its destructors: the counter
// is initialised at compile time and trivially destroyed.
const int counting = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { allocations.fetch_add(1, std::memory_order_relaxed); },
    [](const volatile void*) {});

}  // namespace mummu::test

#else

namespace mummu::test {

inline void* counted_new(std::size_t bytes, std::size_t alignment) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (allocations_until_failure >= 0 && allocations_until_failure-- == 0) return nullptr;
  if (bytes == 0) bytes = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

inline void* counted_new_or_throw(std::size_t bytes, std::size_t alignment) {
  void* memory = counted_new(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace mummu::test

// The array forms of the standard library call these.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return mummu::test::counted_new_or_throw(bytes, 1);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return mummu::test::counted_new_or_throw(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return mummu::test::counted_new(bytes, 1);
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  return mummu::test::counted_new(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

#endif
