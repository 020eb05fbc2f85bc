#include "text/tokenizer_build.h"

#include <algorithm>

#include "base/fail.h"
#include "text/byte_level.h"
#include "text/control_token.h"
#include "text/utf8.h"

namespace mummu {
namespace {

// The longest added token known has some 60 bytes; a bound keeps hostile ones from making the
// search quadratic.
constexpr size_t kLongestAdded = 1024;

// What chat models end a turn or a text with, in vocabularies of our families and their kin. Files
// often name only one of the two as their eos token.
constexpr std::string_view kEndMarks[] = {
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|end|>",
    "<end_of_turn>",
    "<turn|>",
    "<|end_of_turn|>",
    "<|END_OF_TURN_TOKEN|>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
};

AddedMatcher::Entry entry_of(const AddedToken& token, std::string text) {
  return {.text = std::move(text),
          .id = token.id,
          .allowed = allowed_levels(token),
          .single_word = token.single_word,
          .lstrip = token.lstrip,
          .rstrip = token.rstrip};
}

}  // namespace

Result<void> index_texts(Tokenizer::Impl& impl, std::string_view where) {
  impl.index.reserve(impl.texts.size());
  for (TokenId id = 0; id < impl.texts.size(); ++id) {
    // Holes in the numbering have no text.
    if (impl.texts[id].empty() || impl.index.insert(impl.texts, id)) continue;
    return fail(Error::corrupt, "{}: tokens {} and {} have the same text", where,
                impl.index.find(impl.texts, impl.texts[id]), id);
  }
  return {};
}

Result<void> finish_added(Tokenizer::Impl& impl, std::string_view where) {
  impl.special.assign(static_cast<size_t>(impl.texts.size()), 0);
  std::vector<AddedMatcher::Entry> raw, normalized;
  // Of two tokens that normalize to one text the first counts; special ones come first.
  std::vector<const AddedToken*> order;
  for (const bool special : {true, false})
    for (const AddedToken& token : impl.added)
      if (token.special == special) order.push_back(&token);
  for (const AddedToken* token : order) {
    if (token->id < 0 || token->id >= impl.texts.size())
      return fail(Error::corrupt, "{}: added token id {} is not in the vocabulary of {}", where,
                  token->id, impl.texts.size());
    if (token->text.size() > kLongestAdded)
      return fail(Error::unsupported, "{}: added token {} has {} bytes, at most {} are supported",
                  where, token->id, token->text.size(), kLongestAdded);
    if (token->special) impl.special[static_cast<size_t>(token->id)] = 1;
    std::string text = token->text;
    if (token->normalized) normalize_by_all(impl.normalizers, text);
    if (text.empty() || is_vocabulary_padding(text)) continue;
    (token->normalized ? normalized : raw).push_back(entry_of(*token, std::move(text)));
  }
  impl.raw_matcher = AddedMatcher(std::move(raw));
  impl.normalized_matcher = AddedMatcher(std::move(normalized));
  return {};
}

std::vector<bool> hidden_from_model(const Tokenizer::Impl& impl) {
  constexpr uint8_t kAllLevels = 0xf;
  std::vector<bool> hidden(static_cast<size_t>(impl.texts.size()));
  for (const AddedToken& token : impl.added)
    if (allowed_levels(token) != kAllLevels) hidden[static_cast<size_t>(token.id)] = true;
  return hidden;
}

Pieces make_pieces(const Tokenizer::Impl& impl, const std::vector<bool>& hidden, bool bytes) {
  Pieces pieces;
  std::string raw;
  for (TokenId id = 0; id < impl.texts.size(); ++id) {
    raw.clear();
    const bool seen = !hidden[static_cast<size_t>(id)];
    if (seen && bytes) append_bytes_of(raw, impl.texts[id]);
    if (seen && !bytes) raw = impl.texts[id];
    pieces.texts.add(raw);
  }
  pieces.index.reserve(pieces.texts.size());
  for (TokenId id = 0; id < pieces.texts.size(); ++id)
    if (!pieces.texts[id].empty()) pieces.index.insert(pieces.texts, id);
  return pieces;
}

MergeList::MergeList(const Tokenizer::Impl& impl, const Pieces& pieces, size_t count, size_t prefix)
    : impl_(impl), pieces_(pieces), prefix_(prefix) {
  merges_.reserve(static_cast<int64_t>(count));
}

Result<void> MergeList::add(std::string_view left, std::string_view right, std::string_view where) {
  const uint32_t rank = rank_++;
  const std::string_view kept = right.substr(std::min(prefix_, right.size()));
  joined_ = left;
  joined_ += kept;
  const TokenId left_id = impl_.index.find(impl_.texts, left);
  const TokenId right_id = impl_.index.find(impl_.texts, right);
  const TokenId result = impl_.index.find(impl_.texts, joined_);
  if (left_id < 0 || right_id < 0 || result < 0)
    return fail(Error::corrupt, "{}: merge {} of \"{}\" and \"{}\" has parts that are no tokens",
                where, rank, left, right);
  if (!pieces_.texts[result].empty()) merges_.insert(left_id, right_id, {rank, result});
  return {};
}

Result<void> MergeList::add(std::string_view both, std::string_view where) {
  const size_t space = both.find(' ', 1);
  if (space == std::string_view::npos)
    return fail(Error::corrupt, "{}: merge {} \"{}\" has no two parts", where, rank_, both);
  return add(both.substr(0, space), both.substr(space + 1), where);
}

void finish_end_ids(Tokenizer::Impl& impl, const std::vector<TokenId>& given) {
  const auto add = [&](TokenId id) {
    if (std::ranges::find(impl.end_ids, id) == impl.end_ids.end()) impl.end_ids.push_back(id);
  };
  if (impl.eos) add(*impl.eos);
  for (const TokenId id : given) add(id);
  for (const AddedToken& token : impl.added) {
    const bool mark = std::ranges::find(kEndMarks, token.text) != std::end(kEndMarks);
    if (token.control && mark) add(token.id);
  }
}

}  // namespace mummu
