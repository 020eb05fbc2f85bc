// The Pooling module of sentence-transformers: config.json in its folder, in both of its forms.

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "engine/embed_files.h"
#include "file/quote.h"

namespace mummu {

namespace {

struct Mode {
  std::string_view name;
  std::string_view old_key;
  Pool pool;
};

constexpr std::array kModes = {
    Mode{"cls", "pooling_mode_cls_token", Pool::first},
    Mode{"max", "pooling_mode_max_tokens", Pool::largest},
    Mode{"mean", "pooling_mode_mean_tokens", Pool::mean},
    Mode{"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", Pool::mean_sqrt},
    Mode{"weightedmean", "pooling_mode_weightedmean_tokens", Pool::weighted_mean},
    Mode{"lasttoken", "pooling_mode_lasttoken", Pool::last},
};

Result<Pool> pool_of(std::string_view mode, const std::string& where) {
  for (const Mode& known : kModes)
    if (known.name == mode) return known.pool;
  return fail(Error::unsupported,
              "{}: pooling mode {} is not supported; known are cls, max, mean, "
              "mean_sqrt_len_tokens, weightedmean, lasttoken",
              where, quote(mode));
}

// The modes that a file names, in either of its two forms.
Result<std::vector<std::string>> read_modes(const JsonObject& file) {
  const nlohmann::json* now = file.find("pooling_mode");
  if (now && now->is_array()) return file.get_strings("pooling_mode");
  std::vector<std::string> modes;
  if (now) {
    MUMMU_TRY(modes.emplace_back(), file.get_string("pooling_mode"));
    return modes;
  }
  for (const auto& [key, value] : file.json().items()) {
    if (!key.starts_with("pooling_mode_")) continue;
    MUMMU_TRY(const bool active, file.get_bool(key));
    if (!active) continue;
    const auto known = std::find_if(kModes.begin(), kModes.end(),
                                    [&](const Mode& mode) { return mode.old_key == key; });
    if (known == kModes.end()) return unsupported_key(file, key);
    modes.emplace_back(known->name);
  }
  if (modes.empty()) modes.emplace_back("mean");
  return modes;
}

}  // namespace

Result<void> read_pooling(const std::filesystem::path& folder, EmbedConfig& config) {
  const std::string path = (folder / "config.json").string();
  MUMMU_TRY(const auto json, read_json(path));
  MUMMU_TRY(const auto file, JsonObject::of(json, path));
  MUMMU_TRY(const auto now, file.find_int("embedding_dimension"));
  MUMMU_TRY(const auto before, file.find_int("word_embedding_dimension"));
  if (!now && !before)
    return fail(Error::corrupt, "{}: embedding_dimension is missing", file.where());
  config.columns = now.value_or(before.value_or(0));
  if (config.columns < 1 || before.value_or(config.columns) != config.columns)
    return fail(Error::corrupt, "{}: a vector of {} components", file.where(),
                std::min(config.columns, before.value_or(config.columns)));
  MUMMU_TRY(const auto include, file.find_bool("include_prompt"));
  if (!include.value_or(true)) return unsupported_key(file, "include_prompt");
  MUMMU_TRY(const auto modes, read_modes(file));
  if (modes.size() != 1)
    return fail(Error::unsupported, "{}: {} ways of pooling at once are not supported",
                file.where(), modes.size());
  MUMMU_TRY(config.pool, pool_of(modes.front(), file.where()));
  return {};
}

std::string_view name(Pool how) {
  for (const Mode& mode : kModes)
    if (mode.pool == how) return mode.name;
  return "";
}

}  // namespace mummu
