#pragma once

// The JSON files beside an embedding model's weights, each read for its own part of an EmbedConfig.

#include <filesystem>
#include <string_view>

#include "engine/embed_config.h"
#include "file/json.h"
#include "mummu/result.h"

namespace mummu {

// "FILE: KEY VALUE is not supported".
Error unsupported_key(const JsonObject& file, std::string_view key);

// The Pooling module's folder.
Result<void> read_pooling(const std::filesystem::path& folder, EmbedConfig& config);
// The Transformer module's folder: after how many tokens a text is cut, and how.
Result<void> read_lengths(const std::filesystem::path& folder, EmbedConfig& config);
// The whole model's folder.
Result<void> read_prompts(const std::filesystem::path& folder, EmbedConfig& config);

}  // namespace mummu
