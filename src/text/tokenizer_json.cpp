#include "text/tokenizer_json.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "text/tokenizer_build.h"

namespace mummu {
namespace {

using Part = tokenizer_json::DecoderParts;

// What lies beside a tokenizer.json.
struct Beside {
  std::optional<std::string> bos, eos;
  std::vector<std::string> control;  // the texts of every role
  std::vector<int64_t> end_ids;
};

// "bos_token": "<s>", or an object with its content.
Result<std::optional<std::string>> role_text(const JsonObject& config, std::string_view key) {
  const nlohmann::json* value = config.find(key);
  if (value != nullptr && value->is_object()) {
    MUMMU_TRY(const auto object, config.get_object(key));
    return object.find_string("content");
  }
  return config.find_string(key);
}

Result<void> read_roles(const JsonObject& config, Beside& out) {
  constexpr std::string_view kRoles[] = {"bos_token", "eos_token", "pad_token", "unk_token",
                                         "sep_token", "cls_token", "mask_token"};
  for (const std::string_view role : kRoles) {
    MUMMU_TRY(auto text, role_text(config, role));
    if (!text || text->empty()) continue;
    if (role == "bos_token") out.bos = *text;
    if (role == "eos_token") out.eos = *text;
    out.control.push_back(std::move(*text));
  }
  return {};
}

// "eos_token_id": 2, or several.
Result<void> read_end_ids(const JsonObject& config, Beside& out) {
  const nlohmann::json* value = config.find("eos_token_id");
  if (value == nullptr) return {};
  if (value->is_array()) {
    MUMMU_TRY(auto ids, config.get_ints("eos_token_id"));
    out.end_ids = std::move(ids);
    return {};
  }
  MUMMU_TRY(const int64_t id, config.get_int("eos_token_id"));
  out.end_ids.push_back(id);
  return {};
}

// Calls read over the object in a file, if there is one.
template <typename F>
Result<bool> read_if_there(const std::filesystem::path& path, const F& read) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return false;
  MUMMU_TRY(const auto json, read_json(path.string()));
  MUMMU_TRY(const auto object, JsonObject::of(json, path.string()));
  MUMMU_TRY(read(object));
  return true;
}

Result<Beside> read_beside(const std::filesystem::path& folder) {
  Beside out;
  MUMMU_TRY(read_if_there(folder / "tokenizer_config.json",
                          [&](const JsonObject& config) { return read_roles(config, out); }));
  const auto end_ids = [&](const JsonObject& config) { return read_end_ids(config, out); };
  MUMMU_TRY(read_if_there(folder / "generation_config.json", end_ids));
  if (out.end_ids.empty()) MUMMU_TRY(read_if_there(folder / "config.json", end_ids));
  return out;
}

// Unknown tokens are control tokens, whatever the file says of them.
Result<void> add_model_unknown(const JsonObject& root, std::vector<std::string>& control) {
  MUMMU_TRY(const auto model, root.get_object("model"));
  MUMMU_TRY(auto unknown, model.find_string("unk_token"));
  if (unknown && !unknown->empty()) control.push_back(std::move(*unknown));
  return {};
}

void set_role(const std::optional<std::string>& text, const Tokenizer::Impl& impl,
              std::optional<TokenId>& role) {
  if (!text) return;
  const TokenId id = impl.index.find(impl.texts, *text);
  if (id >= 0) role = id;
}

Result<Tokenizer> build(const nlohmann::json& json, std::string where, Beside beside) {
  using namespace tokenizer_json;
  MUMMU_TRY(const auto root, JsonObject::of(json, std::move(where)));
  MUMMU_TRY(add_model_unknown(root, beside.control));
  auto impl = std::make_unique<Tokenizer::Impl>();
  MUMMU_TRY(impl->normalizers, read_normalizers(root));
  MUMMU_TRY(const auto hidden, read_vocabulary(root, beside.control, *impl));
  MUMMU_TRY(auto cutting, read_pre_tokenizers(root));
  MUMMU_TRY(read_model(root, hidden, std::move(cutting), *impl));
  MUMMU_TRY(read_post_processor(root, *impl));
  MUMMU_TRY(read_truncation_and_padding(root, *impl));
  MUMMU_TRY(Part decoder, read_decoder(root));
  impl->decoder = TextDecoder(impl->texts, decoder.steps, std::move(decoder.front));
  set_role(beside.bos, *impl, impl->bos);
  set_role(beside.eos, *impl, impl->eos);
  std::vector<TokenId> ends;
  for (const int64_t id : beside.end_ids)
    if (id >= 0 && id < impl->texts.size()) ends.push_back(static_cast<TokenId>(id));
  finish_end_ids(*impl, ends);
  return Tokenizer(std::move(impl));
}

}  // namespace

Result<Tokenizer> tokenizer_from_json(const std::string& path) {
  std::filesystem::path file(path);
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) file /= "tokenizer.json";
  MUMMU_TRY(const auto json, read_json(file.string()));
  MUMMU_TRY(auto beside, read_beside(file.parent_path()));
  return build(json, file.string(), std::move(beside));
}

Result<Tokenizer> parse_tokenizer_json(std::string_view text, std::string_view where) {
  MUMMU_TRY(const auto json, parse_json(text, where));
  return build(json, std::string(where), {});
}

}  // namespace mummu
