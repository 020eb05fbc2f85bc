#include "model/checkpoint.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "base/fail.h"
#include "model/config_json.h"

namespace mummu {

namespace {

namespace fs = std::filesystem;

Result<Checkpoint> open_gguf(const std::string& path) {
  MUMMU_TRY(auto file, Gguf::open(path));
  MUMMU_TRY(const auto architecture, file.get_string("general.architecture"));
  MUMMU_TRY(const Family* family, find_family(architecture, path));
  MUMMU_TRY(auto config, family->from_gguf(file));
  return Checkpoint{.file = std::move(file),
                    .format = Format::gguf,
                    .family = family,
                    .config = std::move(config),
                    .text_path = path};
}

bool share_one(const std::vector<TokenId>& a, const std::vector<TokenId>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](TokenId id) { return std::find(b.begin(), b.end(), id) != b.end(); });
}

// generation_config.json may name more ids that end an answer; none in common is a contradiction.
Result<void> add_generation_ids(const fs::path& folder, ModelConfig& config) {
  const fs::path path = folder / "generation_config.json";
  if (!fs::exists(path)) return {};
  MUMMU_TRY(const auto json, read_json(path.string()));
  MUMMU_TRY(const auto object, JsonObject::of(json, path.string()));
  MUMMU_TRY(const auto ids, read_end_ids(object));
  if (ids.empty()) return {};
  if (!config.end_ids.empty() && !share_one(ids, config.end_ids))
    return fail(Error::corrupt, "{}: eos_token_id {} against {} of config.json", path.string(),
                fmt::join(ids, ", "), fmt::join(config.end_ids, ", "));
  for (TokenId id : ids)
    if (std::find(config.end_ids.begin(), config.end_ids.end(), id) == config.end_ids.end())
      config.end_ids.push_back(id);
  return {};
}

// What to open instead, where that is plain: a folder of GGUF files has none of its own
// configuration, and one of several files is not the model.
Result<void> refuse_what_is_no_model(const fs::path& folder, const fs::path& weights) {
  std::error_code ignored;
  if (!fs::exists(folder / "config.json", ignored)) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().extension() == ".gguf") names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    constexpr size_t kShown = 20;
    if (!names.empty())
      return fail(Error::not_found, "{}: no config.json here, but GGUF files; open one of {}{}",
                  folder.string(),
                  fmt::join(std::span(names).first(std::min(names.size(), kShown)), ", "),
                  names.size() > kShown ? ", ..." : "");
  }
  const fs::path index = folder / "model.safetensors.index.json";
  const bool one_of_several = weights.filename().string().find("-of-") != std::string::npos;
  if (one_of_several && weights.extension() == ".safetensors" && fs::exists(index, ignored))
    return fail(Error::invalid, "{}: is one of the files that {} lists; open the folder",
                weights.string(), index.string());
  return {};
}

Result<Checkpoint> open_folder(const fs::path& folder, const std::string& weights) {
  MUMMU_TRY(refuse_what_is_no_model(folder, weights));
  const std::string config_path = (folder / "config.json").string();
  MUMMU_TRY(const auto json, read_json(config_path));
  MUMMU_TRY(const auto object, JsonObject::of(json, config_path));
  MUMMU_TRY(const auto type, object.get_string("model_type"));
  MUMMU_TRY(const Family* family, find_family(type, config_path));
  MUMMU_TRY(auto config, family->from_json(object));
  MUMMU_TRY(auto file, Safetensors::open(weights));
  MUMMU_TRY(const auto name, object.find_string("_name_or_path"));
  config.name = name.value_or("");
  MUMMU_TRY(add_generation_ids(folder, config));
  return Checkpoint{.file = std::move(file),
                    .format = Format::safetensors,
                    .family = family,
                    .config = std::move(config),
                    .text_path = folder.string()};
}

}  // namespace

Result<Checkpoint> open_checkpoint(const std::string& path) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  if (!fs::exists(status)) return fail(Error::not_found, "{}: no such file or folder", path);
  if (!fs::is_directory(status) && !path.ends_with(".safetensors") && !path.ends_with(".json")) {
    MUMMU_TRY(auto checkpoint, open_gguf(path));
    checkpoint.config.architecture = checkpoint.family->name;
    MUMMU_TRY(check_config(checkpoint.config, path));
    return checkpoint;
  }
  fs::path folder = fs::is_directory(status) ? fs::path(path) : fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  const bool names_all = fs::path(path).filename() == "config.json";
  MUMMU_TRY(auto checkpoint, open_folder(folder, names_all ? folder.string() : path));
  checkpoint.config.architecture = checkpoint.family->name;
  MUMMU_TRY(check_config(checkpoint.config, (folder / "config.json").string()));
  return checkpoint;
}

}  // namespace mummu
