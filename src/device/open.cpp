#include <cstdlib>
#include <utility>

#include "base/edge.h"
#include "base/fail.h"
#include "device/check.h"
#include "device/machine.h"
#include "device/ops.h"
#include "device/reference/reference_ops.h"
#include "mummu/device.h"
#include "mummu/version.h"

namespace mummu {
namespace {

struct IsaName {
  Isa isa;
  std::string_view name;
};
constexpr IsaName kIsaNames[] = {
    {Isa::reference, "reference"}, {Isa::avx2, "avx2"}, {Isa::avx512, "avx512"}};

std::string_view isa_name(Isa isa) {
  for (const IsaName& known : kIsaNames) {
    if (known.isa == isa) return known.name;
  }
  return "unknown";
}

// What MUMMU_ISA asks for; unset or empty: the best this CPU has.
Result<Isa> isa_of_environment() {
  const char* value = std::getenv("MUMMU_ISA");
  if (value == nullptr || *value == '\0') return best_isa();
  for (const IsaName& known : kIsaNames) {
    if (known.name == value) return known.isa;
  }
  return fail(Error::invalid,
              "MUMMU_ISA: unknown instruction set \"{}\"; known: reference, avx2, avx512", value);
}

Result<std::unique_ptr<Ops>> open_ops(std::string_view name, DeviceOptions options) {
  if (name != "cpu") {
    return fail(Error::not_found, "no device is named \"{}\"; known: cpu", name);
  }
  if (options.isa == Isa::automatic) {
    MUMMU_TRY(options.isa, isa_of_environment());
  }
  if (!cpu_has(options.isa)) {
    return fail(Error::unsupported, "this CPU ({}) lacks the instruction set {}; best here: {}",
                cpu_brand(), isa_name(options.isa), isa_name(best_isa()));
  }
  if (options.isa == Isa::reference) return open_reference(std::move(options));
  return open_cpu(std::move(options));
}

}  // namespace

Device::Device(std::unique_ptr<Ops> ops) : ops_(std::move(ops)) {}
Device::Device(Device&&) noexcept = default;
Device& Device::operator=(Device&&) noexcept = default;
Device::~Device() = default;

DeviceInfo Device::info() const { return ops_->device_info(); }

Result<Device> open_device(std::string_view name, DeviceOptions options) {
  return at_edge([&]() -> Result<Device> {
    MUMMU_TRY(auto ops, open_ops(name, std::move(options)));
    return Device(make_checked(std::move(ops)));
  });
}

std::vector<DeviceInfo> enumerate_devices() {
  return {{.name = "cpu",
           .kind = kContract,
           .description = cpu_brand(),
           .isa = std::string(isa_name(best_isa())),
           .memory_bytes = usable_memory_bytes(),
           .threads = usable_cores()}};
}

}  // namespace mummu
