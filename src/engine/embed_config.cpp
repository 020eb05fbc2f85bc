#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "engine/embed_files.h"
#include "file/quote.h"
#include "model/config_gguf.h"

namespace mummu {

namespace {

namespace fs = std::filesystem;

// One line of modules.json.
struct Module {
  std::string kind;  // the last part of its type: "Transformer"
  fs::path folder;
};

Result<fs::path> inside(const fs::path& folder, const std::string& below,
                        const std::string& where) {
  const fs::path relative = fs::path(below).lexically_normal();
  const bool leaves = relative.is_absolute() || (!relative.empty() && *relative.begin() == "..");
  if (leaves || below.find('\0') != std::string::npos)
    return fail(Error::corrupt, "{}: the path {} leaves the folder", where, quote(below));
  return below.empty() ? folder : folder / relative;
}

Result<Module> read_module(const nlohmann::json& entry, const fs::path& folder,
                           const std::string& where) {
  MUMMU_TRY(const auto object, JsonObject::of(entry, where));
  MUMMU_TRY(const auto type, object.get_string("type"));
  MUMMU_TRY(const auto path, object.get_string("path"));
  Module module;
  MUMMU_TRY(module.folder, inside(folder, path, where));
  module.kind = type.substr(type.rfind('.') + 1);
  const bool known =
      module.kind == "Transformer" || module.kind == "Pooling" || module.kind == "Normalize";
  if (!known || !type.starts_with("sentence_transformers."))
    return fail(Error::unsupported,
                "{}: module {} is not supported; known are Transformer, Pooling, Normalize of "
                "sentence_transformers",
                where, quote(type));
  return module;
}

// Transformer, Pooling, and Normalize or not.
Result<std::vector<Module>> read_modules(const fs::path& folder) {
  const std::string where = (folder / "modules.json").string();
  MUMMU_TRY(const auto document, read_json(where));
  if (!document.is_array()) return fail(Error::corrupt, "{}: expected a list of modules", where);
  std::vector<Module> modules;
  for (const nlohmann::json& entry : document) {
    MUMMU_TRY(modules.emplace_back(), read_module(entry, folder, where));
    if (modules.size() > 3) break;
  }
  const auto is = [&](size_t i, std::string_view kind) {
    return i < modules.size() && modules[i].kind == kind;
  };
  const bool plain = is(0, "Transformer") && is(1, "Pooling") &&
                     (modules.size() == 2 || (modules.size() == 3 && is(2, "Normalize")));
  if (!plain)
    return fail(Error::unsupported,
                "{}: only Transformer, Pooling and after them Normalize or nothing are supported",
                where);
  return modules;
}

Result<void> check_normalize(const fs::path& folder) {
  if (!fs::exists(folder / "config.json")) return {};
  const std::string path = (folder / "config.json").string();
  MUMMU_TRY(const auto json, read_json(path));
  MUMMU_TRY(const auto file, JsonObject::of(json, path));
  for (const char* key : {"module_input_name", "module_output_name"}) {
    MUMMU_TRY(const auto name, file.find_string(key));
    if (name.value_or("sentence_embedding") != "sentence_embedding")
      return unsupported_key(file, key);
  }
  return {};
}

}  // namespace

Error unsupported_key(const JsonObject& file, std::string_view key) {
  return fail(Error::unsupported, "{}: {} {} is not supported", file.where(), key,
              quote(file.find(key)->dump()));
}

Result<EmbedConfig> read_embed_folder(const std::string& path) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  const fs::path folder = is_folder ? fs::path(path) : fs::path(path).parent_path();
  if (!fs::exists(folder / "modules.json"))
    return fail(Error::not_found,
                "{}: nothing says how tokens become one vector: there is no modules.json", path);
  MUMMU_TRY(const auto modules, read_modules(folder));
  EmbedConfig config;
  config.checkpoint = modules[0].folder == folder ? path : modules[0].folder.string();
  MUMMU_TRY(read_pooling(modules[1].folder, config));
  config.normalises = modules.size() == 3;
  if (config.normalises) MUMMU_TRY(check_normalize(modules[2].folder));
  MUMMU_TRY(read_lengths(modules[0].folder, config));
  MUMMU_TRY(read_prompts(folder, config));
  return config;
}

Result<EmbedConfig> read_embed_gguf(const Gguf& file) {
  MUMMU_TRY(const auto key, architecture_key(file, "pooling_type"));
  MUMMU_TRY(const auto type, file.find_i64(key));
  if (!type)
    return fail(Error::not_found, "{}: nothing says how tokens become one vector: {} is missing",
                file.path(), key);
  // None, mean, first, last, rank; a model of rank compares texts instead.
  constexpr std::array kPools = {Pool::mean, Pool::first, Pool::last};
  if (*type < 1 || *type > std::ssize(kPools))
    return fail(Error::unsupported,
                "{}: {} {} is not supported; known are 1 (mean), 2 (cls), 3 (last)", file.path(),
                key, *type);
  EmbedConfig config;
  config.checkpoint = file.path();
  config.pool = kPools[static_cast<size_t>(*type - 1)];
  config.normalises = true;
  return config;
}

}  // namespace mummu
