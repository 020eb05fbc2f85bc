#include <unistd.h>

#include <filesystem>

#include "command.h"
#include "mummu/model_store.h"
#include "pull_model.h"

namespace mummu::app {

namespace {

bool somebody_can_answer() { return isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0; }

}  // namespace

std::string find_model(const std::string& name, bool yes) {
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) return name;
  const ModelStore store;
  auto found = store.find(name);
  if (found) return found->path;
  if (found.error().code == Error::invalid)
    fail(fmt::format("no such model: {} is no file or folder here, and no name: {}", name,
                     found.error().message));
  if (!yes && !somebody_can_answer())
    fail(
        fmt::format("no such model: {} is no file or folder here, and not whole in the store ({}); "
                    "`mummu pull {}` gets it, or --yes",
                    name, store.folder(), name));
  return pull_model(name, yes ? Ask::never : Ask::always, false).path;
}

}  // namespace mummu::app
