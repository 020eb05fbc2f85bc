#pragma once

// The check layer that stands in front of every device: it verifies the shapes, types and order of
// calls that device/ops.h requires, so that a mistake of a layer above is an error of finish() and
// never a stray access of a kernel. A violation skips the op. It also runs every op in the default
// float environment, whatever the host has set. It costs well under a microsecond an op.

#include <memory>

#include "device/ops.h"

namespace mummu {

// A device in front of `device` that checks, and then asks it.
//   requires  the device's views are host memory (ids, positions and row numbers are read)
std::unique_ptr<Ops> make_checked(std::unique_ptr<Ops> device);

}  // namespace mummu
