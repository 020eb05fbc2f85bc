#include "mummu/json_mode.h"

#include <algorithm>

#include "base/edge.h"
#include "base/fail.h"
#include "engine/json_masks.h"
#include "text/tokenizer_impl.h"

namespace mummu {
namespace {

constexpr size_t kLongestToken = 1024;  // bytes; longer ones are never allowed

using TokenBytes = std::pair<std::string_view, TokenId>;

// Every token that adds text to an answer.
std::vector<TokenBytes> speaking_tokens(const Tokenizer& tokenizer) {
  std::vector<TokenBytes> tokens;
  for (TokenId id = 0; id < tokenizer.vocab(); ++id) {
    const std::string_view bytes = tokenizer.impl().decoder.bytes(id, false);
    if (bytes.empty() || bytes.size() > kLongestToken || tokenizer.is_special(id)) continue;
    tokens.emplace_back(bytes, id);
  }
  const auto ends = tokenizer.end_ids();
  std::erase_if(tokens, [&](const TokenBytes& token) {
    return std::find(ends.begin(), ends.end(), token.second) != ends.end();
  });
  return tokens;
}

}  // namespace

struct JsonMode::Impl {
  const Tokenizer::Impl* tokenizer = nullptr;  // a Tokenizer may move; this does not
  JsonMasks masks;
  // Tokens that read otherwise at the beginning of a text, and may not stand there.
  std::vector<TokenId> not_first;
};

namespace {

// The bytes of a token at the beginning of a text are often those of anywhere else without a space,
// which JSON does not mind. What else differs must be allowed in both readings.
std::vector<TokenId> find_not_first(const Tokenizer& tokenizer,
                                    const std::vector<TokenBytes>& tokens) {
  std::vector<TokenId> out;
  for (const auto& [bytes, id] : tokens) {
    const std::string_view first = tokenizer.impl().decoder.bytes(id, true);
    JsonState state;
    if (first != bytes && !json_read(state, first)) out.push_back(id);
  }
  return out;
}

class JsonConstraint final : public Constraint {
 public:
  explicit JsonConstraint(const JsonMode::Impl& mode)
      : mode_(mode), scratch_(mode.masks.longest() + 1) {}

  void mask(std::span<uint64_t> allowed) override {
    mode_.masks.mask(state_, allowed, scratch_);
    if (!first_) return;
    for (const TokenId id : mode_.not_first)
      if (const auto word = static_cast<size_t>(id / 64); word < allowed.size())
        allowed[word] &= ~(uint64_t{1} << (id % 64));
  }

  void accept(TokenId id) override {
    json_read(state_, mode_.tokenizer->decoder.bytes(id, false));
    first_ = false;
  }

  bool is_complete() const override { return state_.complete(); }

 private:
  const JsonMode::Impl& mode_;
  JsonState state_;
  bool first_ = true;
  std::vector<JsonState> scratch_;
};

}  // namespace

JsonMode::JsonMode(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
JsonMode::JsonMode(JsonMode&&) noexcept = default;
JsonMode& JsonMode::operator=(JsonMode&&) noexcept = default;
JsonMode::~JsonMode() = default;

Result<JsonMode> JsonMode::make(const Tokenizer& tokenizer) {
  return at_edge([&]() -> Result<JsonMode> {
    const std::string& front = tokenizer.impl().decoder.front().text;
    if (front.find_first_not_of(' ') != std::string::npos)
      return fail(Error::unsupported,
                  "JSON mode: the tokenizer drops '{}' at the front of a text, spaces expected",
                  front);
    auto tokens = speaking_tokens(tokenizer);
    auto not_first = find_not_first(tokenizer, tokens);
    return JsonMode(std::make_unique<const Impl>(Impl{
        &tokenizer.impl(), JsonMasks(std::move(tokens), tokenizer.vocab()), std::move(not_first)}));
  });
}

ConstraintFactory JsonMode::constraint() const {
  return [mode = impl_.get()](const Tokenizer& tokenizer) -> Result<std::unique_ptr<Constraint>> {
    if (&tokenizer.impl() != mode->tokenizer)
      return fail(Error::invalid, "this JSON mode was made for another tokenizer");
    return std::unique_ptr<Constraint>(std::make_unique<JsonConstraint>(*mode));
  };
}

}  // namespace mummu
