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

// The ids inside what the post-processor adds, cut to a length.
std::vector<TokenId> with_ends(const Tokenizer::Impl& impl, std::vector<TokenId> ids, bool add,
                               int64_t max_tokens) {
  const auto ends = add ? impl.front.size() + impl.back.size() : 0;
  if (max_tokens > 0) {
    const auto room =
        static_cast<size_t>(max_tokens) > ends ? static_cast<size_t>(max_tokens) - ends : 0;
    if (ids.size() > room) {
      const bool left = impl.truncation && impl.truncation->left;
      if (left) ids.erase(ids.begin(), ids.end() - static_cast<ptrdiff_t>(room));
      ids.resize(room);
    }
  }
  if (!add) return ids;
  ids.insert(ids.begin(), impl.front.begin(), impl.front.end());
  ids.insert(ids.end(), impl.back.begin(), impl.back.end());
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
    return with_ends(*impl_, encode_text(*impl_, text, levels), options.add_special,
                     options.max_tokens);
  });
}

Result<std::vector<TokenId>> Tokenizer::encode(const Rendered& rendered) const {
  return at_edge([&]() -> Result<std::vector<TokenId>> {
    MUMMU_TRY(check_text(rendered.text));
    MUMMU_TRY(check_runs(rendered));
    if (rendered.text.empty()) return std::vector<TokenId>();
    auto ids = encode_text(*impl_, rendered.text, LevelMap(rendered.runs));
    // A BOS token can only come from template text: nothing else may become one.
    const bool adds = impl_->bos && !impl_->front.empty() && impl_->front.front() == *impl_->bos;
    if (adds && (ids.empty() || ids.front() != *impl_->bos)) ids.insert(ids.begin(), *impl_->bos);
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

bool Tokenizer::is_special(TokenId id) const {
  return id >= 0 && id < vocab() && impl_->special[static_cast<size_t>(id)] != 0;
}

std::optional<TokenId> Tokenizer::bos() const { return impl_->bos; }
std::optional<TokenId> Tokenizer::eos() const { return impl_->eos; }
std::span<const TokenId> Tokenizer::end_ids() const { return impl_->end_ids; }
std::span<const AddedToken> Tokenizer::added() const { return impl_->added; }

}  // namespace mummu
