// mummu devices: what this machine can compute on.

#include "command.h"

namespace mummu::app {

void add_devices(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("devices", "List the devices of this machine");
  sub->callback([] {
    for (const DeviceInfo& device : enumerate_devices())
      fmt::print("{}\t{}\t{}\t{}\t{}\n", device.name, device.kind, device.isa,
                 human_bytes(device.memory_bytes), device.description);
  });
}

}  // namespace mummu::app
