#pragma once

// Memory of the CPU device: zero-filled, aligned for vectors, and in large pages where it is big,
// so that a step that streams all weights does not stall on address translation.

#include <cstdint>
#include <memory>
#include <string_view>

#include "device/tensor.h"
#include "mummu/result.h"

namespace mummu::cpu {

// Allocates at least `bytes`, zero-filled, at a multiple of 64; untouched pages cost nothing.
//   errors   no_memory: names `what`
Result<std::unique_ptr<Memory>> allocate(int64_t bytes, std::string_view what);

}  // namespace mummu::cpu
