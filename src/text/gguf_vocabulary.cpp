#include "text/gguf_vocabulary.h"

#include <algorithm>

#include "base/fail.h"
#include "text/utf8.h"

namespace mummu {
namespace {

Result<std::vector<std::string>> texts(const Gguf& file, std::string_view key,
                                       const StringArray& array) {
  std::vector<std::string> out;
  out.reserve(static_cast<size_t>(array.size()));
  for (int64_t i = 0; i < array.size(); ++i) {
    if (find_invalid_utf8(array[i]))
      return fail(Error::corrupt, "{}: {}[{}] is not UTF-8", file.path(), key, i);
    out.emplace_back(array[i]);
  }
  return out;
}

Result<std::optional<TokenId>> id(const Gguf& file, std::string_view name, size_t vocab) {
  const std::string key = fmt::format("tokenizer.ggml.{}_token_id", name);
  MUMMU_TRY(const auto value, file.find_i64(key));
  if (!value) return std::optional<TokenId>();
  if (*value < 0 || *value >= static_cast<int64_t>(vocab))
    return fail(Error::corrupt, "{}: {} is {}, the vocabulary has {} tokens", file.path(), key,
                *value, vocab);
  return std::optional<TokenId>(static_cast<TokenId>(*value));
}

Result<std::string> string_or_empty(const Gguf& file, std::string_view key) {
  MUMMU_TRY(const auto value, file.find_string(key));
  return std::string(value.value_or(""));
}

}  // namespace

Result<GgufVocabulary> read_gguf_vocabulary(const Gguf& file) {
  GgufVocabulary out;
  out.where = file.path();
  MUMMU_TRY(out.model, string_or_empty(file, "tokenizer.ggml.model"));
  if (out.model.empty())
    return fail(Error::unsupported,
                "{}: no tokenizer in this file (tokenizer.ggml.model is missing)", file.path());
  MUMMU_TRY(out.pre, string_or_empty(file, "tokenizer.ggml.pre"));
  MUMMU_TRY(const auto tokens, file.get_strings("tokenizer.ggml.tokens"));
  MUMMU_TRY(out.tokens, texts(file, "tokenizer.ggml.tokens", tokens));
  const size_t vocab = out.tokens.size();
  MUMMU_TRY(auto types, file.find_i32s("tokenizer.ggml.token_type"));
  out.types = types ? std::move(*types) : std::vector<int32_t>(vocab, GgufVocabulary::kNormal);
  MUMMU_TRY(auto scores, file.find_f32s("tokenizer.ggml.scores"));
  if (scores) out.scores = std::move(*scores);
  if (out.types.size() != vocab || (!out.scores.empty() && out.scores.size() != vocab))
    return fail(Error::corrupt, "{}: {} tokens, but {} types and {} scores", file.path(), vocab,
                out.types.size(), out.scores.size());
  MUMMU_TRY(const auto merges, file.find_strings("tokenizer.ggml.merges"));
  if (merges) {
    MUMMU_TRY(out.merges, texts(file, "tokenizer.ggml.merges", *merges));
  }
  MUMMU_TRY(out.bos, id(file, "bos", vocab));
  MUMMU_TRY(out.eos, id(file, "eos", vocab));
  MUMMU_TRY(out.eot, id(file, "eot", vocab));
  MUMMU_TRY(out.eom, id(file, "eom", vocab));
  MUMMU_TRY(out.unknown, id(file, "unknown", vocab));
  const auto unknown = std::ranges::find(out.types, int32_t{GgufVocabulary::kUnknown});
  if (!out.unknown && out.model == "llama" && unknown != out.types.end())
    out.unknown = static_cast<TokenId>(unknown - out.types.begin());
  MUMMU_TRY(out.separator, id(file, "seperator", vocab));  // the format's spelling
  MUMMU_TRY(out.padding, id(file, "padding", vocab));
  MUMMU_TRY(out.cls, id(file, "cls", vocab));
  MUMMU_TRY(out.mask, id(file, "mask", vocab));
  MUMMU_TRY(out.add_bos, file.find_bool("tokenizer.ggml.add_bos_token"));
  MUMMU_TRY(out.add_eos, file.find_bool("tokenizer.ggml.add_eos_token"));
  MUMMU_TRY(out.add_space_prefix, file.find_bool("tokenizer.ggml.add_space_prefix"));
  return out;
}

}  // namespace mummu
