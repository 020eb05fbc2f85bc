// What is done with a text before the network sees it: where it is cut, what is put before it.

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "engine/embed_files.h"
#include "file/quote.h"

namespace mummu {

namespace {

namespace fs = std::filesystem;

bool is_set(const nlohmann::json* value) {
  return value != nullptr && !value->is_null() && !(value->is_boolean() && !value->get<bool>()) &&
         !(value->is_structured() && value->empty());
}

// Keys that other kinds of model set. `modality_config` may only say again what is the default.
Result<void> refuse_other_kinds(const JsonObject& file) {
  MUMMU_TRY(const auto task, file.find_string("transformer_task"));
  if (task.value_or("feature-extraction") != "feature-extraction")
    return unsupported_key(file, "transformer_task");
  MUMMU_TRY(const auto output, file.find_string("module_output_name"));
  if (output.value_or("token_embeddings") != "token_embeddings")
    return unsupported_key(file, "module_output_name");
  for (const char* key :
       {"processing_kwargs", "query_length", "document_length", "query_expansion"})
    if (is_set(file.find(key))) return unsupported_key(file, key);
  const nlohmann::json* modes = file.find("modality_config");
  const nlohmann::json plain = {{"method", "forward"}, {"method_output_name", "last_hidden_state"}};
  if (modes && !(modes->is_object() && modes->contains("text") && (*modes)["text"] == plain))
    return unsupported_key(file, "modality_config");
  return {};
}

// What the Transformer module hands to its tokenizer; wins over max_seq_length.
Result<std::optional<int64_t>> read_tokenizer_arguments(const JsonObject& file) {
  std::optional<int64_t> most;
  for (const char* key : {"tokenizer_args", "processor_kwargs"}) {
    MUMMU_TRY(const auto arguments, file.find_object(key));
    if (!arguments) continue;
    for (const auto& [name, value] : arguments->json().items())
      if (name != "model_max_length" && name != "padding_side" && name != "trust_remote_code" &&
          name != "use_fast")
        return unsupported_key(*arguments, name);
    MUMMU_TRY(const auto length, arguments->find_int("model_max_length"));
    if (length) most = length;
  }
  return most;
}

Result<void> read_module_config(const fs::path& folder, EmbedConfig& config) {
  for (const char* kind :
       {"bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"}) {
    const fs::path path = folder / fmt::format("sentence_{}_config.json", kind);
    if (!fs::exists(path)) continue;
    MUMMU_TRY(const auto json, read_json(path.string()));
    MUMMU_TRY(const auto file, JsonObject::of(json, path.string()));
    MUMMU_TRY(refuse_other_kinds(file));
    MUMMU_TRY(const auto lower, file.find_bool("do_lower_case"));
    config.lower_case = lower.value_or(false);
    MUMMU_TRY(auto length, read_tokenizer_arguments(file));
    if (!length) {
      MUMMU_TRY(length, file.find_int("max_seq_length"));
    }
    if (length && *length < 1)
      return fail(Error::corrupt, "{}: texts are cut after {} tokens, expected at least 1",
                  file.where(), *length);
    config.max_tokens = length.value_or(0);
    return {};
  }
  return {};
}

// tokenizer_config.json: the length that holds where the module names none, and the end that is
// cut.
Result<void> read_tokenizer_config(const fs::path& folder, EmbedConfig& config) {
  const fs::path path = folder / "tokenizer_config.json";
  if (!fs::exists(path)) return {};
  MUMMU_TRY(const auto json, read_json(path.string()));
  MUMMU_TRY(const auto file, JsonObject::of(json, path.string()));
  MUMMU_TRY(const auto side, file.find_string("truncation_side"));
  if (side) config.cuts_left = *side == "left";
  // Tokenizers without a limit write 1e30.
  const nlohmann::json* length = file.find("model_max_length");
  if (length && length->is_number() && length->get<double>() >= 1 && length->get<double>() < 1e9)
    config.tokenizer_tokens = static_cast<int64_t>(length->get<double>());
  return {};
}

}  // namespace

Result<void> read_lengths(const fs::path& folder, EmbedConfig& config) {
  MUMMU_TRY(read_module_config(folder, config));
  return read_tokenizer_config(folder, config);
}

Result<void> read_prompts(const fs::path& folder, EmbedConfig& config) {
  const fs::path path = folder / "config_sentence_transformers.json";
  if (!fs::exists(path)) return {};
  MUMMU_TRY(const auto json, read_json(path.string()));
  MUMMU_TRY(const auto file, JsonObject::of(json, path.string()));
  MUMMU_TRY(const auto kind, file.find_string("model_type"));
  if (kind.value_or("SentenceTransformer") != "SentenceTransformer")
    return unsupported_key(file, "model_type");
  MUMMU_TRY(const auto prompts, file.find_object("prompts"));
  if (prompts)
    for (const auto& [name, value] : prompts->json().items()) {
      MUMMU_TRY(auto text, prompts->find_string(name));
      config.prompts.push_back({name, std::move(text).value_or("")});
    }
  MUMMU_TRY(const auto chosen, file.find_string("default_prompt_name"));
  config.default_prompt = chosen.value_or("");
  const bool known =
      std::any_of(config.prompts.begin(), config.prompts.end(),
                  [&](const EmbedPrompt& prompt) { return prompt.name == config.default_prompt; });
  if (chosen && !known)
    return fail(Error::corrupt, "{}: default_prompt_name {} is not among the prompts", file.where(),
                quote(config.default_prompt));
  return {};
}

}  // namespace mummu
