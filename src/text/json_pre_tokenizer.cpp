#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "text/tokenizer_json.h"
#include "text/unicode.h"

namespace mummu::tokenizer_json {
namespace {

Result<Behavior> read_behavior(const JsonObject& object) {
  MUMMU_TRY(const auto name, object.find_string("behavior"));
  if (!name || name == "Isolated") return Behavior::isolated;
  if (name == "Removed") return Behavior::removed;
  if (name == "MergedWithPrevious") return Behavior::merged_with_previous;
  if (name == "MergedWithNext") return Behavior::merged_with_next;
  if (name == "Contiguous") return Behavior::contiguous;
  return fail(Error::unsupported, "{}: behavior {} is not supported", object.where(), *name);
}

using One = std::unique_ptr<const PreTokenizer>;

One cut_at(std::unique_ptr<const Pattern> pattern, Behavior behavior, bool invert = false) {
  return make_split(std::move(pattern), behavior, invert);
}

Result<One> read_metaspace(const JsonObject& object) {
  MUMMU_TRY(auto replacement, read_character(object, "replacement"));
  MUMMU_TRY(const auto scheme_name, object.find_string("prepend_scheme"));
  MUMMU_TRY(const auto add_prefix_space, object.find_bool("add_prefix_space"));
  MUMMU_TRY(const auto split, object.find_bool("split"));
  PrependScheme scheme = PrependScheme::always;
  if (scheme_name == "first") scheme = PrependScheme::first;
  if (scheme_name == "never" || (!scheme_name && add_prefix_space == false))
    scheme = PrependScheme::never;
  return make_metaspace(std::move(replacement), scheme, split.value_or(true));
}

Result<One> read_split(const JsonObject& object) {
  MUMMU_TRY(auto pattern, read_pattern(object));
  MUMMU_TRY(const Behavior behavior, read_behavior(object));
  MUMMU_TRY(const auto invert, object.find_bool("invert"));
  return cut_at(std::move(pattern), behavior, invert.value_or(false));
}

Result<One> read_one(const JsonObject& object, const std::string& type) {
  if (type == "Split") return read_split(object);
  if (type == "Metaspace") return read_metaspace(object);
  if (type == "Whitespace") return cut_at(word_pattern(), Behavior::removed, true);
  if (type == "WhitespaceSplit") return cut_at(class_pattern(unicode::kSpace), Behavior::removed);
  if (type == "Punctuation") {
    MUMMU_TRY(const Behavior behavior, read_behavior(object));
    return cut_at(class_pattern(unicode::kSplitPunctuation), behavior);
  }
  if (type == "Digits") {
    MUMMU_TRY(const auto individual, object.find_bool("individual_digits"));
    return cut_at(class_pattern(unicode::kNumeric),
                  individual.value_or(false) ? Behavior::isolated : Behavior::contiguous);
  }
  if (type == "CharDelimiterSplit") {
    MUMMU_TRY(auto delimiter, read_character(object, "delimiter"));
    return cut_at(literal_pattern(std::move(delimiter)), Behavior::removed);
  }
  if (type == "FixedLength") {
    MUMMU_TRY(const int64_t length, object.get_int("length"));
    if (length < 1) return fail(Error::corrupt, "{}: length is {}", object.where(), length);
    return make_fixed_length(static_cast<size_t>(length));
  }
  return unknown_type(object, type);
}

Result<void> append_byte_level(const JsonObject& object, Cutting& out) {
  if (out.byte_level)
    return fail(Error::unsupported, "{}: a second ByteLevel is not supported", object.where());
  MUMMU_TRY(const bool prefix_space, object.get_bool("add_prefix_space"));
  MUMMU_TRY(const auto use_regex, object.find_bool("use_regex"));
  if (prefix_space) out.steps.push_back(make_prefix_space());
  if (use_regex.value_or(true))
    out.steps.push_back(cut_at(known_pattern(kGpt2Expression), Behavior::isolated));
  out.steps.push_back(make_byte_characters());
  out.byte_level = true;
  return {};
}

Result<void> append(const JsonObject& object, Cutting& out) {
  MUMMU_TRY(const auto type, object.get_string("type"));
  if (type == "Sequence") {
    MUMMU_TRY(const auto parts, objects(object, "pretokenizers"));
    for (const JsonObject& part : parts) MUMMU_TRY(append(part, out));
    return {};
  }
  if (type == "ByteLevel") return append_byte_level(object, out);
  if (out.byte_level) out.byte_level_last = false;
  if (type == "BertPreTokenizer") {
    out.steps.push_back(cut_at(class_pattern(unicode::kSpace), Behavior::removed));
    out.steps.push_back(cut_at(class_pattern(unicode::kSplitPunctuation), Behavior::isolated));
    return {};
  }
  MUMMU_TRY(auto one, read_one(object, type));
  out.steps.push_back(std::move(one));
  return {};
}

}  // namespace

Result<Cutting> read_pre_tokenizers(const JsonObject& root) {
  Cutting out;
  MUMMU_TRY(const auto object, root.find_object("pre_tokenizer"));
  if (object) MUMMU_TRY(append(*object, out));
  return out;
}

}  // namespace mummu::tokenizer_json
