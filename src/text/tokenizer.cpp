#include "mummu/tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/edge.h"
#include "base/fail.h"
#include "mummu/chat.h"
#include "text/encode.h"
#include "text/gguf_vocabulary.h"
#include "text/tokenizer_impl.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace mummu {
namespace {

Result<void> check_text(std::string_view text) {
  // Positions in a text are kept in 32 bits.
  if (text.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    return fail(Error::invalid, "a text of {} bytes is too large to encode at once", text.size());
  if (const auto at = find_invalid_utf8(text))
    return fail(Error::invalid, "the text is not UTF-8: byte {} is 0x{:02x}", *at,
                static_cast<unsigned char>(text[*at]));
  return {};
}

Result<void> cut(const Tokenizer::Impl& impl, int64_t max_tokens, size_t added,
                 std::vector<TokenId>& ids) {
  if (max_tokens < 0 || static_cast<size_t>(max_tokens) < added)
    return fail(Error::invalid, "max_tokens is {}, the tokenizer adds {} tokens", max_tokens,
                added);
  const size_t room = static_cast<size_t>(max_tokens) - added;
  if (ids.size() <= room) return {};
  const bool left = impl.truncation && impl.truncation->left;
  if (left) ids.erase(ids.begin(), ids.end() - static_cast<ptrdiff_t>(room));
  ids.resize(room);
  return {};
}

Result<void> pad(const Tokenizer::Impl& impl, int64_t pad_to, std::vector<TokenId>& ids) {
  if (!impl.padding)
    return fail(Error::invalid, "pad_to is {}, but the tokenizer's files declare no padding",
                pad_to);
  if (pad_to < 0 || static_cast<size_t>(pad_to) <= ids.size()) return {};
  const size_t missing = static_cast<size_t>(pad_to) - ids.size();
  ids.insert(impl.padding->left ? ids.begin() : ids.end(), missing, impl.padding->id);
  return {};
}

// The ids inside what the post-processor adds, cut and filled up as asked.
Result<std::vector<TokenId>> finish(const Tokenizer::Impl& impl, std::vector<TokenId> ids,
                                    const EncodeOptions& options) {
  const bool add = options.add_special;
  if (options.max_tokens != 0)
    MUMMU_TRY(cut(impl, options.max_tokens, add ? impl.front.size() + impl.back.size() : 0, ids));
  if (add) {
    ids.insert(ids.begin(), impl.front.begin(), impl.front.end());
    ids.insert(ids.end(), impl.back.begin(), impl.back.end());
  }
  if (options.pad_to != 0) MUMMU_TRY(pad(impl, options.pad_to, ids));
  return ids;
}

Result<void> check_runs(const Rendered& rendered) {
  size_t covered = 0;
  for (const Rendered::Run& run : rendered.runs) {
    if (run.size > rendered.text.size() - covered || run.level > Level::tool)
      return fail(Error::invalid, "the runs of a rendered text do not fit its {} bytes",
                  rendered.text.size());
    covered += run.size;
  }
  if (covered != rendered.text.size())
    return fail(Error::invalid, "the runs of a rendered text cover {} of its {} bytes", covered,
                rendered.text.size());
  return {};
}

}  // namespace

Result<std::vector<TokenId>> encode_behind(const Tokenizer& tokenizer, std::string_view prompt,
                                           std::string_view text, const EncodeOptions& options) {
  MUMMU_TRY(check_text(text));
  std::string whole(prompt);
  whole += text;
  MUMMU_TRY(check_text(whole));
  const Rendered::Run runs[] = {{.size = prompt.size(), .level = Level::templ},
                                {.size = text.size(), .level = Level::content}};
  std::vector<TokenId> ids;
  if (!whole.empty()) ids = encode_text(tokenizer.impl(), whole, LevelMap(runs));
  return finish(tokenizer.impl(), std::move(ids), options);
}

Tokenizer::Tokenizer(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::load(const std::string& path) {
  return at_edge([&]() -> Result<Tokenizer> {
    std::error_code error;
    if (std::filesystem::is_directory(path, error) || path.ends_with(".json"))
      return tokenizer_from_json(path);
    MUMMU_TRY(const Gguf file, Gguf::open(path));
    return tokenizer_from_gguf(file);
  });
}

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view text,
                                               const EncodeOptions& options) const {
  return at_edge([&]() -> Result<std::vector<TokenId>> {
    MUMMU_TRY(check_text(text));
    const LevelMap levels(options.parse_special ? Level::templ : Level::content);
    return finish(*impl_, encode_text(*impl_, text, levels), options);
  });
}

Result<std::vector<TokenId>> Tokenizer::encode(const Rendered& rendered) const {
  return at_edge([&]() -> Result<std::vector<TokenId>> {
    MUMMU_TRY(check_text(rendered.text));
    MUMMU_TRY(check_runs(rendered));
    if (rendered.text.empty()) return std::vector<TokenId>();
    auto ids = encode_text(*impl_, rendered.text, LevelMap(rendered.runs));
    // What the tokenizer begins a text with is its BOS, also where no file names it so. It can only
    // stand there already if the template wrote it: nothing else may become a control token.
    const bool adds =
        !impl_->front.empty() && impl_->front.front() == bos().value_or(impl_->front.front());
    if (adds && (ids.empty() || ids.front() != impl_->front.front()))
      ids.insert(ids.begin(), impl_->front.front());
    return ids;
  });
}

Result<std::string> Tokenizer::decode(std::span<const TokenId> ids, bool skip_special) const {
  return at_edge([&]() -> Result<std::string> {
    StreamDecoder decoder(*this, skip_special);
    std::string out;
    for (const TokenId id : ids) {
      if (id < 0 || id >= vocab())
        return fail(Error::invalid, "token id {} is outside the vocabulary of {}", id, vocab());
      out += decoder.push(id);
    }
    out += decoder.finish();
    return out;
  });
}

int64_t Tokenizer::vocab() const { return impl_->texts.size(); }

std::optional<TokenId> Tokenizer::find(std::string_view text) const {
  const TokenId id = impl_->index.find(impl_->texts, text);
  return id < 0 ? std::nullopt : std::optional(id);
}

std::string_view Tokenizer::text(TokenId id) const {
  return id >= 0 && id < vocab() ? impl_->texts[id] : std::string_view();
}

std::string_view Tokenizer::bytes(TokenId id) const {
  return id >= 0 && id < vocab() ? impl_->decoder.bytes(id, false) : std::string_view();
}

bool Tokenizer::is_special(TokenId id) const {
  return id >= 0 && id < vocab() && impl_->special[static_cast<size_t>(id)] != 0;
}

std::optional<TokenId> Tokenizer::bos() const { return impl_->bos; }
std::optional<TokenId> Tokenizer::eos() const { return impl_->eos; }
std::span<const TokenId> Tokenizer::end_ids() const { return impl_->end_ids; }
DeclaredLengths Tokenizer::declared() const {
  return {.max_tokens = impl_->truncation ? impl_->truncation->max_tokens : 0,
          .pad_to = impl_->padding ? impl_->padding->fixed : 0};
}
std::span<const AddedToken> Tokenizer::added() const { return impl_->added; }

}  // namespace mummu
