#include "device/reference/reference_ops.h"

#include "device/machine.h"
#include "mummu/version.h"

namespace mummu {

DeviceInfo reference::ReferenceOps::device_info() const {
  return {.name = "cpu",
          .kind = kContract,
          .description = cpu_brand(),
          .isa = "reference",
          .memory_bytes = usable_memory_bytes(),
          .threads = parallel_.width()};
}

Result<std::unique_ptr<Ops>> open_reference(DeviceOptions options) {
  return std::unique_ptr<Ops>(
      std::make_unique<reference::ReferenceOps>(std::move(options.parallel)));
}

}  // namespace mummu
