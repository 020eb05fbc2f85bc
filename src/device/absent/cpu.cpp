#include "base/fail.h"
#include "device/ops.h"

namespace mummu {

// Stands in for cpu/ in builds for processors that it has no kernels for.
Result<std::unique_ptr<Ops>> open_cpu(DeviceOptions) {
  return fail(Error::unsupported,
              "this build has no CPU kernels for this processor; the instruction set "
              "\"reference\" works everywhere");
}

}  // namespace mummu
