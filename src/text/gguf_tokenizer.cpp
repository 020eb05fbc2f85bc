#include <algorithm>
#include <numeric>

#include "base/fail.h"
#include "text/bpe.h"
#include "text/byte_level.h"
#include "text/control_token.h"
#include "text/gguf_pre_tokenizer.h"
#include "text/gguf_vocabulary.h"
#include "text/tokenizer_build.h"
#include "text/unicode.h"
#include "text/utf8.h"
#include "text/wordpiece.h"

namespace mummu {
namespace {

using Type = GgufVocabulary::Type;
using ImplPointer = std::unique_ptr<Tokenizer::Impl>;
constexpr std::string_view kMetaspace = "\u2581";

// True for the id of a role (begin, end, unknown, …), whose type some files do not mark.
bool has_role(const GgufVocabulary& vocabulary, TokenId id) {
  const std::optional<TokenId> roles[] = {
      vocabulary.bos,     vocabulary.eos,       vocabulary.eot, vocabulary.eom, vocabulary.unknown,
      vocabulary.padding, vocabulary.separator, vocabulary.cls, vocabulary.mask};
  return std::ranges::find(roles, std::optional(id)) != std::end(roles);
}

// Whether an id is matched as a whole before the model sees the text.
bool is_added(const GgufVocabulary& vocabulary, TokenId id) {
  const std::string& text = vocabulary.tokens[static_cast<size_t>(id)];
  if (text.empty() || is_vocabulary_padding(text)) return false;
  switch (vocabulary.types[static_cast<size_t>(id)]) {
    case Type::kControl:
    case Type::kUserDefined:
      return true;
    case Type::kUnknown:
      return vocabulary.unknown == id;
    case Type::kNormal:
      // A file that names an ordinary word as its padding does not make that word a control token.
      return has_role(vocabulary, id) && text.size() > 2 && (text[0] == '<' || text[0] == '[');
    default:
      return false;
  }
}

void add_tokens(const GgufVocabulary& vocabulary, Tokenizer::Impl& impl) {
  for (TokenId id = 0; id < impl.texts.size(); ++id) {
    if (!is_added(vocabulary, id)) continue;
    const int32_t type = vocabulary.types[static_cast<size_t>(id)];
    AddedToken token;
    token.id = id;
    token.text = impl.texts[id];
    token.special = type == Type::kControl || type == Type::kUnknown;
    token.control = token.special || has_role(vocabulary, id) || looks_like_control(token.text);
    impl.added.push_back(std::move(token));
  }
}

// What every model of the format shares: texts, added tokens, roles.
Result<ImplPointer> begin_tokenizer(const GgufVocabulary& vocabulary, Normalizers normalizers) {
  auto impl = std::make_unique<Tokenizer::Impl>();
  for (const std::string& text : vocabulary.tokens) impl->texts.add(text);
  MUMMU_TRY(index_texts(*impl, vocabulary.where));
  impl->normalizers = std::move(normalizers);
  add_tokens(vocabulary, *impl);
  MUMMU_TRY(finish_added(*impl, vocabulary.where));
  impl->bos = vocabulary.bos;
  impl->eos = vocabulary.eos;
  std::vector<TokenId> ends;
  if (vocabulary.eot) ends.push_back(*vocabulary.eot);
  if (vocabulary.eom) ends.push_back(*vocabulary.eom);
  finish_end_ids(*impl, ends);
  return impl;
}

Result<void> add_ends(const GgufVocabulary& vocabulary, bool bos, bool eos, Tokenizer::Impl& impl) {
  if (vocabulary.add_bos.value_or(bos)) {
    if (!vocabulary.bos)
      return fail(Error::corrupt, "{}: a BOS is to be added, but the file names none",
                  vocabulary.where);
    impl.front.push_back(*vocabulary.bos);
  }
  if (vocabulary.add_eos.value_or(eos)) {
    if (!vocabulary.eos)
      return fail(Error::corrupt, "{}: an EOS is to be added, but the file names none",
                  vocabulary.where);
    impl.back.push_back(*vocabulary.eos);
  }
  return {};
}

// The ids that the model must not produce: added tokens are found before it sees the text.
std::vector<bool> added_ids(const Tokenizer::Impl& impl) {
  std::vector<bool> hidden(static_cast<size_t>(impl.texts.size()));
  for (const AddedToken& token : impl.added) hidden[static_cast<size_t>(token.id)] = true;
  return hidden;
}

Result<ImplPointer> byte_level_bpe(const GgufVocabulary& vocabulary) {
  MUMMU_TRY(auto pre, gguf_pre_tokenizer(vocabulary.pre, vocabulary.where));
  MUMMU_TRY(auto impl, begin_tokenizer(vocabulary, std::move(pre.normalizers)));
  impl->pre_tokenizers = std::move(pre.steps);
  Pieces pieces = make_pieces(*impl, added_ids(*impl), true);
  MergeList merges(*impl, pieces, vocabulary.merges.size());
  for (const std::string& merge : vocabulary.merges) MUMMU_TRY(merges.add(merge, vocabulary.where));
  impl->model =
      std::make_unique<Bpe>(std::move(pieces), merges.take(),
                            BpeOptions{.bytes = true, .ignore_merges = pre.ignore_merges});
  impl->decoder = TextDecoder(impl->texts, {{.kind = DecoderStep::Kind::byte_level}}, {});
  MUMMU_TRY(add_ends(vocabulary, pre.add_bos, false, *impl));
  return impl;
}

// SentencePiece files list no merges: any two pieces whose text together is a piece may merge, the
// piece with the highest score first. Of equal scores the longer left part comes first, then the
// longer right part.
//   source   the conversion of such files in Hugging Face transformers
struct ScoredMerge {
  float score;
  uint32_t left_length, right_length;  // code points
  TokenId left, right, result;
};

void append_merges_of(TokenId id, float score, const Pieces& pieces,
                      std::vector<ScoredMerge>& out) {
  const std::string_view text = pieces.texts[id];
  const auto length = static_cast<uint32_t>(code_points(text));
  const size_t before = out.size();
  uint32_t left_length = 0;
  for (size_t at = 0; at < text.size();) {
    at += static_cast<size_t>(code_point_at(text, at).size);
    ++left_length;
    if (at == text.size()) break;
    const TokenId left = pieces.find(text.substr(0, at));
    if (left < 0) continue;
    const TokenId right = pieces.find(text.substr(at));
    if (right >= 0) out.push_back({score, left_length, length - left_length, left, right, id});
  }
  std::sort(out.begin() + static_cast<ptrdiff_t>(before), out.end(),
            [](const ScoredMerge& a, const ScoredMerge& b) {
              return a.left != b.left ? a.left < b.left : a.right < b.right;
            });
}

MergeTable scored_merges(const GgufVocabulary& vocabulary, const Pieces& pieces) {
  std::vector<ScoredMerge> all;
  for (TokenId id = 0; id < pieces.texts.size(); ++id)
    append_merges_of(id, vocabulary.scores[static_cast<size_t>(id)], pieces, all);
  std::ranges::sort(all, [](const ScoredMerge& a, const ScoredMerge& b) {
    if (a.score != b.score) return a.score > b.score;
    if (a.left_length != b.left_length) return a.left_length > b.left_length;
    if (a.right_length != b.right_length) return a.right_length > b.right_length;
    if (a.result != b.result) return a.result < b.result;
    return a.left != b.left ? a.left < b.left : a.right < b.right;
  });
  MergeTable merges;
  merges.reserve(static_cast<int64_t>(all.size()));
  for (size_t rank = 0; rank < all.size(); ++rank)
    merges.insert(all[rank].left, all[rank].right, {static_cast<uint32_t>(rank), all[rank].result});
  return merges;
}

Result<ImplPointer> sentence_piece_bpe(const GgufVocabulary& vocabulary) {
  if (vocabulary.scores.empty())
    return fail(Error::corrupt, "{}: tokenizer.ggml.scores is missing", vocabulary.where);
  // Every way to halve a piece is tried, so a bound keeps hostile files from taking for ever.
  constexpr size_t kLongestPiece = 4096;
  for (const std::string& token : vocabulary.tokens)
    if (token.size() > kLongestPiece)
      return fail(Error::unsupported, "{}: a token of {} bytes, at most {} are supported",
                  vocabulary.where, token.size(), kLongestPiece);
  if (std::ranges::any_of(vocabulary.scores, [](float score) { return score != score; }))
    return fail(Error::corrupt, "{}: a score in tokenizer.ggml.scores is not a number",
                vocabulary.where);
  Normalizers normalizers;
  if (vocabulary.add_space_prefix.value_or(true))
    normalizers.push_back(make_prepend(std::string(kMetaspace)));
  normalizers.push_back(make_replace(literal_pattern(" "), std::string(kMetaspace)));
  MUMMU_TRY(auto impl, begin_tokenizer(vocabulary, std::move(normalizers)));
  Pieces pieces = make_pieces(*impl, added_ids(*impl), false);
  MergeTable merges = scored_merges(vocabulary, pieces);
  impl->model = std::make_unique<Bpe>(
      std::move(pieces), std::move(merges),
      BpeOptions{
          .byte_fallback = true, .fuse_unknown = true, .unknown = vocabulary.unknown.value_or(-1)});
  impl->decoder =
      TextDecoder(impl->texts,
                  {{.kind = DecoderStep::Kind::replace, .from = std::string(kMetaspace), .to = " "},
                   {.kind = DecoderStep::Kind::byte_fallback}},
                  {.text = " ", .count = vocabulary.add_space_prefix.value_or(true) ? 1u : 0u});
  MUMMU_TRY(add_ends(vocabulary, true, false, *impl));
  return impl;
}

// The format writes the first part of a word with U+2581 before it and the others bare; the
// reference the other way round, with ## before the others.
std::string word_piece_text(const std::string& token) {
  if (token.starts_with('[') && token.ends_with(']')) return token;
  if (token.starts_with(kMetaspace)) return token.substr(kMetaspace.size());
  return "##" + token;
}

bool has_capital(const GgufVocabulary& vocabulary) {
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const std::string& token = vocabulary.tokens[i];
    if (vocabulary.types[i] != Type::kNormal || token.starts_with('[')) continue;
    if (std::ranges::any_of(token, [](char c) { return c >= 'A' && c <= 'Z'; })) return true;
  }
  return false;
}

Result<ImplPointer> word_piece(GgufVocabulary vocabulary) {
  if (!vocabulary.unknown || !vocabulary.separator)
    return fail(Error::corrupt, "{}: the unknown or the separator token is missing",
                vocabulary.where);
  const std::optional<TokenId> begin = vocabulary.cls ? vocabulary.cls : vocabulary.bos;
  if (!begin) return fail(Error::corrupt, "{}: the CLS token is missing", vocabulary.where);
  // The format does not say whether the vocabulary is cased; one without a capital letter is not.
  const bool lower = !has_capital(vocabulary);
  for (std::string& token : vocabulary.tokens) token = word_piece_text(token);
  Normalizers normalizers;
  normalizers.push_back(make_bert_normalizer({.strip_accents = lower, .lowercase = lower}));
  MUMMU_TRY(auto impl, begin_tokenizer(vocabulary, std::move(normalizers)));
  impl->pre_tokenizers.push_back(
      make_split(class_pattern(unicode::kSpace), Behavior::removed, false));
  impl->pre_tokenizers.push_back(
      make_split(class_pattern(unicode::kSplitPunctuation), Behavior::isolated, false));
  impl->model = std::make_unique<WordPiece>(make_pieces(*impl, added_ids(*impl), false),
                                            WordPieceOptions{.unknown = *vocabulary.unknown});
  impl->decoder = TextDecoder(
      impl->texts, {{.kind = DecoderStep::Kind::word_piece, .from = "##", .flag = true}}, {});
  impl->front.push_back(*begin);
  impl->back.push_back(*vocabulary.separator);
  return impl;
}

}  // namespace

Result<ImplPointer> build_tokenizer(const GgufVocabulary& vocabulary) {
  if (vocabulary.model == "gpt2") return byte_level_bpe(vocabulary);
  if (vocabulary.model == "llama") return sentence_piece_bpe(vocabulary);
  if (vocabulary.model == "bert") return word_piece(vocabulary);
  return fail(Error::unsupported,
              "{}: tokenizer model {} is not supported (known are gpt2, llama, bert)",
              vocabulary.where, vocabulary.model);
}

Result<Tokenizer> tokenizer_from_gguf(const Gguf& file) {
  MUMMU_TRY(const auto vocabulary, read_gguf_vocabulary(file));
  MUMMU_TRY(auto impl, build_tokenizer(vocabulary));
  return Tokenizer(std::move(impl));
}

}  // namespace mummu
