#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "text/bpe.h"
#include "text/tokenizer_build.h"
#include "text/tokenizer_json.h"
#include "text/unigram.h"
#include "text/wordpiece.h"

namespace mummu::tokenizer_json {
namespace {

using Hidden = std::vector<bool>;

Result<TokenId> find_token(const JsonObject& model, const std::string& text,
                           const Tokenizer::Impl& impl) {
  const TokenId id = impl.index.find(impl.texts, text);
  if (id < 0)
    return fail(Error::corrupt, "{}: \"{}\" is not in the vocabulary", model.where(), text);
  return id;
}

// Files of before 2020 have "" where later ones have null.
Result<std::string> text_or_empty(const JsonObject& model, std::string_view key) {
  MUMMU_TRY(auto text, model.find_string(key));
  return std::move(text).value_or("");
}

Result<BpeOptions> read_bpe_options(const JsonObject& model, const Tokenizer::Impl& impl) {
  BpeOptions options;
  MUMMU_TRY(const auto dropout, model.find_double("dropout"));
  if (dropout.value_or(0) != 0)
    return fail(Error::unsupported, "{}: dropout {} is not supported", model.where(), *dropout);
  MUMMU_TRY(options.prefix, text_or_empty(model, "continuing_subword_prefix"));
  MUMMU_TRY(options.suffix, text_or_empty(model, "end_of_word_suffix"));
  MUMMU_TRY(const auto fuse, model.find_bool("fuse_unk"));
  MUMMU_TRY(const auto fallback, model.find_bool("byte_fallback"));
  MUMMU_TRY(const auto ignore_merges, model.find_bool("ignore_merges"));
  options.fuse_unknown = fuse.value_or(false);
  options.byte_fallback = fallback.value_or(false);
  options.ignore_merges = ignore_merges.value_or(false);
  MUMMU_TRY(const auto unknown, text_or_empty(model, "unk_token"));
  if (!unknown.empty()) {
    MUMMU_TRY(options.unknown, find_token(model, unknown, impl));
  }
  return options;
}

// ["left right", …] or [["left", "right"], …]
Result<MergeTable> read_merges(const JsonObject& model, const Tokenizer::Impl& impl,
                               const Pieces& pieces, size_t prefix) {
  const nlohmann::json* merges = model.find("merges");
  if (merges == nullptr || !merges->is_array())
    return fail(Error::corrupt, "{}: merges: expected an array", model.where());
  MergeList list(impl, pieces, merges->size(), prefix);
  for (const nlohmann::json& merge : *merges) {
    if (merge.is_string()) {
      MUMMU_TRY(list.add(merge.get_ref<const std::string&>(), model.where()));
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      MUMMU_TRY(list.add(merge[0].get_ref<const std::string&>(),
                         merge[1].get_ref<const std::string&>(), model.where()));
    } else {
      return fail(Error::corrupt, "{}: merges: expected two texts", model.where());
    }
  }
  return list.take();
}

Result<void> read_bpe(const JsonObject& model, Cutting& cutting, const Hidden& hidden,
                      Tokenizer::Impl& impl) {
  MUMMU_TRY(auto options, read_bpe_options(model, impl));
  // Byte-level pieces are kept as bytes, unless the file adds something to their characters.
  options.bytes = cutting.byte_level && options.prefix.empty() && options.suffix.empty() &&
                  !options.byte_fallback;
  if (options.bytes && cutting.byte_level_last) cutting.steps.pop_back();
  if (options.bytes && !cutting.byte_level_last) cutting.steps.push_back(make_byte_values());
  Pieces pieces = make_pieces(impl, hidden, options.bytes);
  MUMMU_TRY(auto merges, read_merges(model, impl, pieces, options.prefix.size()));
  impl.model = std::make_unique<Bpe>(std::move(pieces), std::move(merges), std::move(options));
  return {};
}

Result<void> read_word_piece(const JsonObject& model, const Hidden& hidden, Tokenizer::Impl& impl) {
  WordPieceOptions options;
  MUMMU_TRY(const auto unknown, model.get_string("unk_token"));
  MUMMU_TRY(options.unknown, find_token(model, unknown, impl));
  MUMMU_TRY(options.prefix, model.get_string("continuing_subword_prefix"));
  MUMMU_TRY(const int64_t longest, model.get_int("max_input_chars_per_word"));
  if (longest < 0)
    return fail(Error::corrupt, "{}: max_input_chars_per_word is {}", model.where(), longest);
  options.longest_word = static_cast<size_t>(longest);
  impl.model = std::make_unique<WordPiece>(make_pieces(impl, hidden, false), std::move(options));
  return {};
}

Result<void> read_unigram(const JsonObject& model, const Hidden& hidden, Tokenizer::Impl& impl) {
  UnigramOptions options;
  MUMMU_TRY(const auto fallback, model.find_bool("byte_fallback"));
  options.byte_fallback = fallback.value_or(false);
  MUMMU_TRY(const auto unknown, model.find_int("unk_id"));
  std::vector<double> scores;
  for (const nlohmann::json& entry : *model.find("vocab")) scores.push_back(entry[1].get<double>());
  if (unknown && (*unknown < 0 || *unknown >= static_cast<int64_t>(scores.size())))
    return fail(Error::corrupt, "{}: unk_id is {}", model.where(), *unknown);
  options.unknown = static_cast<TokenId>(unknown.value_or(-1));
  impl.model =
      std::make_unique<Unigram>(make_pieces(impl, hidden, false), std::move(scores), options);
  return {};
}

}  // namespace

Result<std::string> model_type(const JsonObject& model) {
  MUMMU_TRY(auto type, model.find_string("type"));
  if (type) return std::move(*type);
  if (model.has("merges")) return std::string("BPE");
  if (model.has("max_input_chars_per_word")) return std::string("WordPiece");
  const nlohmann::json* vocab = model.find("vocab");
  if (vocab != nullptr && vocab->is_array()) return std::string("Unigram");
  return std::string("WordLevel");
}

Result<void> read_model(const JsonObject& root, const std::vector<bool>& hidden, Cutting cutting,
                        Tokenizer::Impl& impl) {
  MUMMU_TRY(const auto model, root.get_object("model"));
  MUMMU_TRY(const auto type, model_type(model));
  if (type == "BPE") {
    MUMMU_TRY(read_bpe(model, cutting, hidden, impl));
  } else if (type == "WordPiece") {
    MUMMU_TRY(read_word_piece(model, hidden, impl));
  } else if (type == "Unigram" && model.find("vocab")->is_array()) {
    MUMMU_TRY(read_unigram(model, hidden, impl));
  } else {
    return unknown_type(model, type);
  }
  impl.pre_tokenizers = std::move(cutting.steps);
  return {};
}

}  // namespace mummu::tokenizer_json
