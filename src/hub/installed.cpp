#include "hub/installed.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "file/json.h"
#include "hub/choose.h"
#include "hub/text.h"

namespace mummu::hub {
namespace fs = std::filesystem;
namespace {

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

bool contains(const std::vector<std::string>& files, const std::string& file) {
  return std::ranges::find(files, file) != files.end();
}

// Every shard that the index names.
bool has_all_shards(const fs::path& snapshot, const std::vector<std::string>& files) {
  const auto json = read_json((snapshot / "model.safetensors.index.json").string());
  if (!json || !json->is_object() || !json->contains("weight_map")) return false;
  const auto& map = (*json)["weight_map"];
  return map.is_object() && std::ranges::all_of(map, [&](const nlohmann::json& file) {
           return file.is_string() && contains(files, file.get<std::string>());
         });
}

// What modules.json of sentence-transformers needs beside itself.
bool has_all_modules(const fs::path& snapshot, const std::vector<std::string>& files) {
  const auto json = read_json((snapshot / "modules.json").string());
  if (!json || !json->is_array()) return false;
  return std::ranges::all_of(*json, [&](const nlohmann::json& module) {
    if (!module.is_object()) return false;
    const std::string type = module.value("type", ""), path = module.value("path", "");
    return type.find("Pooling") == type.npos || contains(files, path + "/config.json");
  });
}

bool is_whole_folder(const fs::path& snapshot, const std::vector<std::string>& files) {
  if (!contains(files, "config.json") || !contains(files, "tokenizer.json")) return false;
  if (contains(files, "modules.json") && !has_all_modules(snapshot, files)) return false;
  if (contains(files, "model.safetensors.index.json")) return has_all_shards(snapshot, files);
  return contains(files, "model.safetensors");
}

// What huggingface_hub recorded of a commit that it began to download: all its file names.
//   source   huggingface_hub 2.4.0, the files trees/COMMIT.json that it writes
std::vector<std::string> recorded_names(const RepositoryFolder& folder, const std::string& commit) {
  const auto json = read_json((folder.path() / "trees" / (commit + ".json")).string());
  std::vector<std::string> names;
  if (!json || !json->is_object() || !json->contains("files")) return names;
  for (const auto& [name, file] : (*json)["files"].items()) names.push_back(name);
  return names;
}

// Whether nothing is missing that the choice among all names of the commit would take.
bool has_all_recorded(const RepositoryFolder& folder, const std::string& commit,
                      const std::vector<std::string>& there, const std::string& file) {
  const std::vector<std::string> names = recorded_names(folder, commit);
  const auto choice = choose_files(names, file, "");
  return !choice || std::ranges::all_of(choice->files, [&](const std::string& name) {
    return contains(there, name);
  });
}

std::optional<Installed> installed_choice(const RepositoryFolder& folder, const std::string& commit,
                                          const std::vector<std::string>& there,
                                          const std::string& file) {
  auto choice = choose_files(there, file, "");
  const fs::path snapshot = folder.snapshot(commit);
  if (!choice || (choice->main.empty() && !is_whole_folder(snapshot, there))) return std::nullopt;
  if (choice->main.empty() && !has_all_recorded(folder, commit, there, file)) return std::nullopt;
  Installed found{.path = (snapshot / choice->main).string(),
                  .commit = commit,
                  .main = choice->main,
                  .files = choice->files};
  if (found.path.ends_with('/')) found.path.pop_back();
  std::error_code ignored;
  for (const std::string& name : found.files)
    found.bytes += static_cast<int64_t>(fs::file_size(snapshot / name, ignored));
  return found;
}

}  // namespace

fs::path content_of(const RepositoryFolder& folder, const std::string& commit,
                    const std::string& file) {
  std::error_code error;
  const fs::path top = fs::canonical(folder.path(), error);
  if (error) return {};
  const fs::path content = fs::canonical(folder.snapshot(commit) / file, error);
  if (error || !is_below(content, top) || !fs::is_regular_file(content, error)) return {};
  return content;
}

std::vector<std::string> files_of_snapshot(const RepositoryFolder& folder,
                                           const std::string& commit) {
  const fs::path snapshot = folder.snapshot(commit);
  std::vector<std::string> files;
  std::error_code error;
  if (fs::is_symlink(snapshot, error) || fs::is_symlink(folder.path(), error)) return files;
  for (fs::recursive_directory_iterator at(snapshot, error), end; !error && at != end;
       at.increment(error)) {
    const std::string file = at->path().lexically_relative(snapshot).string();
    if (is_safe_file(file) && !content_of(folder, commit, file).empty()) files.push_back(file);
  }
  std::ranges::sort(files);
  return files;
}

std::optional<Installed> find_installed(const fs::path& store, const HubName& name) {
  const RepositoryFolder folder(store, name);
  const auto commit = folder.commit(name.revision);
  if (!commit) return std::nullopt;
  const std::vector<std::string> there = files_of_snapshot(folder, *commit);
  return installed_choice(folder, *commit, there, name.file);
}

std::vector<Installed> models_of_snapshot(const RepositoryFolder& folder,
                                          const std::string& commit) {
  std::vector<Installed> models;
  const std::vector<std::string> there = files_of_snapshot(folder, commit);
  if (is_whole_folder(folder.snapshot(commit), there))
    if (auto whole = installed_choice(folder, commit, there, "")) models.push_back(*whole);
  for (const std::string& file : there)
    if (ends_with_ignoring_case(file, ".gguf") && gguf_parts(file).front() == file)
      if (auto model = installed_choice(folder, commit, there, file)) models.push_back(*model);
  return models;
}

}  // namespace mummu::hub
