// In place of the commands that need the hub, when it is not built in (MUMMU_HUB=OFF).

#include <filesystem>

#include "../command.h"

namespace mummu::app {

std::string find_model(const std::string& name, bool) {
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) return name;
  fail(
      fmt::format("no such model: {} is no file or folder, and this build has no hub "
                  "(MUMMU_HUB=OFF)",
                  name));
}

void add_pull(CLI::App&) {}
void add_store(CLI::App&) {}

}  // namespace mummu::app
