#pragma once

// What of a repository is in the store and whole. Only links that stay inside the repository's
// folder count.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hub/folder.h"
#include "hub/name.h"

namespace mummu::hub {

struct Installed {
  std::string path{};  // what Model::load takes
  std::string commit{};
  std::string main{};                // the file to load; empty: the folder
  std::vector<std::string> files{};  // of the model, inside the snapshot
  int64_t bytes = 0;
};

// The files of a snapshot whose content is there, sorted.
std::vector<std::string> files_of_snapshot(const RepositoryFolder& folder,
                                           const std::string& commit);

// The blob behind a file of a snapshot; empty: a broken link, or one that leaves the folder.
std::filesystem::path content_of(const RepositoryFolder& folder, const std::string& commit,
                                 const std::string& file);

// The model that a name means, if all of it is there. Asks nobody.
std::optional<Installed> find_installed(const std::filesystem::path& store, const HubName& name);

// The models of one snapshot: its safetensors folder, and each GGUF model.
std::vector<Installed> models_of_snapshot(const RepositoryFolder& folder,
                                          const std::string& commit);

}  // namespace mummu::hub
