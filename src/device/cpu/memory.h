#pragma once

// Memory of the CPU device: zero-filled and aligned for vectors. Weights come from an Arena, which
// cuts them from large slabs, so that all of them lie in large pages: a step that streams every
// weight then neither stalls on address translation nor loses its prefetch at every 4 KiB.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "device/cpu/schedule.h"
#include "device/tensor.h"
#include "mummu/result.h"

namespace mummu::cpu {

inline constexpr int64_t kLargePage = int64_t{2} << 20;

// Allocates at least `bytes`, zero-filled, at a multiple of 64; untouched pages cost nothing.
//   errors   no_memory: names `what`
Result<std::unique_ptr<Memory>> allocate(int64_t bytes, std::string_view what);

// Working memory that one use after another takes over, so that only the first touches new pages.
class Scratch {
 public:
  // At least `bytes`, holding anything; what was there before is gone.
  //   errors   as allocate
  Result<std::byte*> take(int64_t bytes, std::string_view what);

 private:
  std::unique_ptr<Memory> memory_;
  int64_t bytes_ = 0;
};

// Cuts memory from slabs. A slab goes back to the system when the last piece of it has died and the
// arena has moved on. Pieces may outlive the arena and die on any thread; cutting is for one thread
// at a time.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // As allocate.
  Result<std::unique_ptr<Memory>> allocate(int64_t bytes, std::string_view what);

  // What was cut until now may be written from here on, and its pages are not touched any more.
  void seal();

  // Touches the large pages of what was cut since, and some ahead, each by one thread of the
  // schedule: two threads that meet in a new page would both clear one.
  //   requires nothing of what was cut since seal() is written
  void touch_ahead(Schedule& schedule);

  struct Slab;

 private:
  Result<void> next_slab(int64_t bytes, std::string_view what);

  Slab* slab_ = nullptr;  // being cut; the arena counts as one user of it
  int64_t used_ = 0;
  int64_t fresh_ = 0;  // the pages from here on are untouched, and hold nothing
};

}  // namespace mummu::cpu
