#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "text/tokenizer_json.h"

namespace mummu::tokenizer_json {
namespace {

struct Ends {
  std::vector<TokenId> front, back;
};

Result<TokenId> check_id(const JsonObject& object, int64_t id, const Tokenizer::Impl& impl) {
  if (id < 0 || id >= impl.texts.size())
    return fail(Error::corrupt, "{}: id {} is outside the vocabulary of {}", object.where(), id,
                impl.texts.size());
  return static_cast<TokenId>(id);
}

// "sep": ["[SEP]", 102]
Result<TokenId> read_pair(const JsonObject& object, std::string_view key,
                          const Tokenizer::Impl& impl) {
  const nlohmann::json* pair = object.find(key);
  if (pair == nullptr || !pair->is_array() || pair->size() != 2 || !(*pair)[1].is_number_integer())
    return fail(Error::corrupt, "{}: {}: expected a token and its id", object.where(), key);
  return check_id(object, (*pair)[1].get<int64_t>(), impl);
}

Result<void> append_special(const JsonObject& object, const JsonObject& special,
                            const Tokenizer::Impl& impl, std::vector<TokenId>& out) {
  MUMMU_TRY(const auto name, special.get_string("id"));
  MUMMU_TRY(const auto known, object.get_object("special_tokens"));
  MUMMU_TRY(const auto entry, known.get_object(name));
  MUMMU_TRY(const auto ids, entry.get_ints("ids"));
  for (const int64_t value : ids) {
    MUMMU_TRY(const TokenId id, check_id(entry, value, impl));
    out.push_back(id);
  }
  return {};
}

// What a template puts around one text: special tokens, the text once, special tokens.
Result<Ends> read_template(const JsonObject& object, const Tokenizer::Impl& impl) {
  Ends ends;
  bool behind = false;
  MUMMU_TRY(const auto pieces, objects(object, "single"));
  for (const JsonObject& piece : pieces) {
    MUMMU_TRY(const auto special, piece.find_object("SpecialToken"));
    if (special) {
      MUMMU_TRY(append_special(object, *special, impl, behind ? ends.back : ends.front));
      continue;
    }
    MUMMU_TRY(const auto sequence, piece.get_object("Sequence"));
    MUMMU_TRY(const auto id, sequence.get_string("id"));
    if (id != "A" || behind)
      return fail(Error::unsupported,
                  "{}: a template with the text other than once is not supported", piece.where());
    behind = true;
  }
  if (!behind)
    return fail(Error::unsupported, "{}: a template without the text is not supported",
                object.where());
  return ends;
}

Result<Ends> read_one(const JsonObject& object, const std::string& type,
                      const Tokenizer::Impl& impl) {
  if (type == "TemplateProcessing") return read_template(object, impl);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    MUMMU_TRY(const TokenId cls, read_pair(object, "cls", impl));
    MUMMU_TRY(const TokenId sep, read_pair(object, "sep", impl));
    return Ends{{cls}, {sep}};
  }
  if (type == "ByteLevel") return Ends{};  // moves offsets only
  return unknown_type(object, type);
}

// A later processor works on what an earlier one made: it stands outside.
Result<void> append(const JsonObject& object, Tokenizer::Impl& impl) {
  MUMMU_TRY(const auto type, object.get_string("type"));
  if (type == "Sequence") {
    MUMMU_TRY(const auto parts, objects(object, "processors"));
    for (const JsonObject& part : parts) MUMMU_TRY(append(part, impl));
    return {};
  }
  MUMMU_TRY(const Ends ends, read_one(object, type, impl));
  impl.front.insert(impl.front.begin(), ends.front.begin(), ends.front.end());
  impl.back.insert(impl.back.end(), ends.back.begin(), ends.back.end());
  return {};
}

Result<bool> read_left(const JsonObject& object) {
  MUMMU_TRY(const auto direction, object.find_string("direction"));
  if (!direction || direction == "Right") return false;
  if (direction == "Left") return true;
  return fail(Error::corrupt, "{}: direction is {}", object.where(), *direction);
}

Result<int64_t> not_negative(const JsonObject& object, std::string_view key, int64_t value) {
  if (value < 0) return fail(Error::corrupt, "{}: {} is {}", object.where(), key, value);
  return value;
}

Result<Padding> read_padding(const JsonObject& object, const Tokenizer::Impl& impl) {
  Padding padding;
  MUMMU_TRY(padding.left, read_left(object));
  MUMMU_TRY(const int64_t id, object.get_int("pad_id"));
  MUMMU_TRY(padding.id, check_id(object, id, impl));
  const nlohmann::json* strategy = object.find("strategy");
  if (strategy != nullptr && strategy->is_object()) {
    MUMMU_TRY(const auto fixed, object.get_object("strategy"));
    MUMMU_TRY(const int64_t length, fixed.get_int("Fixed"));
    MUMMU_TRY(padding.fixed, not_negative(fixed, "Fixed", length));
  }
  return padding;
}

}  // namespace

Result<void> read_post_processor(const JsonObject& root, Tokenizer::Impl& impl) {
  MUMMU_TRY(const auto object, root.find_object("post_processor"));
  return object ? append(*object, impl) : Result<void>();
}

Result<void> read_truncation_and_padding(const JsonObject& root, Tokenizer::Impl& impl) {
  MUMMU_TRY(const auto truncation, root.find_object("truncation"));
  if (truncation) {
    Truncation out;
    MUMMU_TRY(const int64_t length, truncation->get_int("max_length"));
    MUMMU_TRY(out.max_tokens, not_negative(*truncation, "max_length", length));
    MUMMU_TRY(out.left, read_left(*truncation));
    impl.truncation = out;
  }
  MUMMU_TRY(const auto padding, root.find_object("padding"));
  if (padding) {
    MUMMU_TRY(impl.padding, read_padding(*padding, impl));
  }
  return {};
}

}  // namespace mummu::tokenizer_json
