#include <nlohmann/json.hpp>

#include "text/tokenizer_json.h"

namespace mummu::tokenizer_json {
namespace {

Result<std::unique_ptr<const Normalizer>> read_bert(const JsonObject& object) {
  BertNormalizerOptions options;
  MUMMU_TRY(options.clean_text, object.get_bool("clean_text"));
  MUMMU_TRY(options.handle_chinese_chars, object.get_bool("handle_chinese_chars"));
  MUMMU_TRY(options.lowercase, object.get_bool("lowercase"));
  MUMMU_TRY(const auto strip_accents, object.find_bool("strip_accents"));
  options.strip_accents = strip_accents.value_or(options.lowercase);
  return make_bert_normalizer(options);
}

Result<std::unique_ptr<const Normalizer>> read_one(const JsonObject& object,
                                                   const std::string& type) {
  if (type == "NFC") return make_normal_form(NormalForm::nfc);
  if (type == "NFD") return make_normal_form(NormalForm::nfd);
  if (type == "NFKC") return make_normal_form(NormalForm::nfkc);
  if (type == "NFKD") return make_normal_form(NormalForm::nfkd);
  if (type == "Lowercase") return make_lowercase();
  if (type == "StripAccents") return make_strip_accents();
  if (type == "Nmt") return make_nmt();
  if (type == "ByteLevel") return make_byte_characters_normalizer();
  if (type == "BertNormalizer") return read_bert(object);
  if (type == "Prepend") {
    MUMMU_TRY(auto text, object.get_string("prepend"));
    return make_prepend(std::move(text));
  }
  if (type == "Replace") {
    MUMMU_TRY(auto pattern, read_pattern(object));
    MUMMU_TRY(auto content, object.get_string("content"));
    return make_replace(std::move(pattern), std::move(content));
  }
  if (type == "Strip") {
    MUMMU_TRY(const bool left, object.get_bool("strip_left"));
    MUMMU_TRY(const bool right, object.get_bool("strip_right"));
    return make_strip(left, right);
  }
  return unknown_type(object, type);
}

Result<void> append(const JsonObject& object, Normalizers& out) {
  MUMMU_TRY(const auto type, object.get_string("type"));
  if (type == "Sequence") {
    MUMMU_TRY(const auto parts, objects(object, "normalizers"));
    for (const JsonObject& part : parts) MUMMU_TRY(append(part, out));
    return {};
  }
  MUMMU_TRY(auto one, read_one(object, type));
  out.push_back(std::move(one));
  return {};
}

}  // namespace

Result<Normalizers> read_normalizers(const JsonObject& root) {
  Normalizers out;
  MUMMU_TRY(const auto object, root.find_object("normalizer"));
  if (object) MUMMU_TRY(append(*object, out));
  return out;
}

}  // namespace mummu::tokenizer_json
