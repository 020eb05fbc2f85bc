#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/edge.h"
#include "base/fail.h"
#include "file/gguf.h"
#include "file/json.h"
#include "file/reader.h"
#include "text/chat_template.h"

namespace mummu {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxTemplateBytes = 4 << 20;  // of a file; the parser's own limit is lower

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Result<std::string> read_text(const fs::path& path) {
  MUMMU_TRY(FileReader file, FileReader::open(path.string()));
  if (file.size() > kMaxTemplateBytes) {
    return fail(Error::corrupt, "{}: {} bytes, too many for a template", path.string(),
                file.size());
  }
  std::string out(static_cast<size_t>(file.size()), '\0');
  MUMMU_TRY(file.read(0, std::as_writable_bytes(std::span(out))));
  return out;
}

// chat_template.jinja and additional_chat_templates/NAME.jinja, as transformers saves them.
Result<std::vector<ChatTemplate::Named>> template_files(const fs::path& folder) {
  std::vector<ChatTemplate::Named> out;
  if (const fs::path single = folder / "chat_template.jinja"; is_there(single)) {
    MUMMU_TRY(std::string source, read_text(single));
    out.push_back({"default", std::move(source)});
  }
  std::error_code none;
  std::vector<fs::path> more;
  for (const auto& entry : fs::directory_iterator(folder / "additional_chat_templates", none)) {
    if (entry.path().extension() == ".jinja") more.push_back(entry.path());
  }
  std::sort(more.begin(), more.end());
  for (const fs::path& path : more) {
    MUMMU_TRY(std::string source, read_text(path));
    out.push_back({path.stem().string(), std::move(source)});
  }
  return out;
}

// chat_template of tokenizer_config.json: a string, or a list of {name, template}.
Result<std::vector<ChatTemplate::Named>> config_templates(const JsonObject& config) {
  std::vector<ChatTemplate::Named> out;
  const nlohmann::json* entry = config.find("chat_template");
  if (!entry) return out;
  if (entry->is_string()) {
    out.push_back({"default", entry->get<std::string>()});
    return out;
  }
  if (!entry->is_array())
    return fail(Error::corrupt, "{}: chat_template: a string or a list expected", config.where());
  for (const nlohmann::json& item : *entry) {
    MUMMU_TRY(const JsonObject object, JsonObject::of(item, config.where() + ": chat_template"));
    MUMMU_TRY(std::string name, object.get_string("name"));
    MUMMU_TRY(std::string source, object.get_string("template"));
    out.push_back({std::move(name), std::move(source)});
  }
  return out;
}

// A token of tokenizer_config.json: its text, or an object with it as "content". Empty if it is
// neither.
std::string token_text(const nlohmann::json& token) {
  if (token.is_string()) return token.get<std::string>();
  if (!token.is_object()) return {};
  const auto content = token.find("content");
  return content != token.end() && content->is_string() ? content->get<std::string>()
                                                        : std::string();
}

void put_token(ChatTemplate::Tokens& out, const std::string& name, std::string text) {
  if (name == "bos_token") return void(out.bos = std::move(text));
  if (name == "eos_token") return void(out.eos = std::move(text));
  if (name == "pad_token") return void(out.pad = std::move(text));
  if (name == "unk_token") return void(out.unk = std::move(text));
  out.more.emplace_back(name, std::move(text));
}

ChatTemplate::Tokens config_tokens(const nlohmann::json& config) {
  ChatTemplate::Tokens out;
  for (const auto& [name, value] : config.items()) {
    if (!name.ends_with("_token")) continue;
    if (std::string text = token_text(value); !text.empty()) put_token(out, name, std::move(text));
  }
  return out;
}

}  // namespace

Result<ChatTemplateSource> find_chat_templates(const std::string& folder) {
  ChatTemplateSource out;
  MUMMU_TRY(out.templates, template_files(folder));
  const std::string config_path = (fs::path(folder) / "tokenizer_config.json").string();
  if (!is_there(config_path)) return out;
  MUMMU_TRY(const nlohmann::json config, read_json(config_path));
  MUMMU_TRY(const JsonObject object, JsonObject::of(config, config_path));
  out.tokens = config_tokens(config);
  if (!out.templates.empty()) return out;
  MUMMU_TRY(out.templates, config_templates(object));
  return out;
}

Result<ChatTemplateSource> find_chat_templates(const Gguf& gguf) {
  constexpr std::string_view kKey = "tokenizer.chat_template";
  ChatTemplateSource out;
  for (const std::string_view key : gguf.keys()) {
    const bool named =
        key.starts_with(kKey) && key.size() > kKey.size() + 1 && key[kKey.size()] == '.';
    if (key != kKey && !named) continue;
    MUMMU_TRY(const std::string_view source, gguf.get_string(key));
    out.templates.push_back(
        {std::string(named ? key.substr(kKey.size() + 1) : "default"), std::string(source)});
  }
  MUMMU_TRY(const auto vocabulary, gguf.find_strings("tokenizer.ggml.tokens"));
  constexpr std::pair<std::string_view, std::string_view> kTokens[] = {
      {"tokenizer.ggml.bos_token_id", "bos_token"},
      {"tokenizer.ggml.eos_token_id", "eos_token"},
      {"tokenizer.ggml.padding_token_id", "pad_token"},
      {"tokenizer.ggml.unknown_token_id", "unk_token"},
      {"tokenizer.ggml.seperator_token_id", "sep_token"},
      {"tokenizer.ggml.cls_token_id", "cls_token"},
      {"tokenizer.ggml.mask_token_id", "mask_token"}};
  for (const auto& [key, name] : kTokens) {
    MUMMU_TRY(const auto id, gguf.find_i64(key));
    if (!id || !vocabulary || *id < 0 || *id >= vocabulary->size()) continue;
    put_token(out.tokens, std::string(name), std::string((*vocabulary)[*id]));
  }
  return out;
}

namespace {

Result<ChatTemplateSource> find_anywhere(const std::string& path) {
  std::error_code none;
  if (fs::is_directory(path, none)) return find_chat_templates(path);
  MUMMU_TRY(const Gguf gguf, Gguf::open(path));
  return find_chat_templates(gguf);
}

}  // namespace

Result<ChatTemplate> ChatTemplate::load(const std::string& path) {
  return at_edge([&]() -> Result<ChatTemplate> {
    MUMMU_TRY(ChatTemplateSource found, find_anywhere(path));
    if (found.templates.empty()) return fail(Error::not_found, "{}: no chat template", path);
    return parse(std::move(found.templates), std::move(found.tokens));
  });
}

Result<ChatTemplate::Tokens> ChatTemplate::load_tokens(const std::string& path) {
  return at_edge([&]() -> Result<Tokens> {
    MUMMU_TRY(ChatTemplateSource found, find_anywhere(path));
    return std::move(found.tokens);
  });
}

}  // namespace mummu
