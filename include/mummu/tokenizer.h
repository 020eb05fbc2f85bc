#pragma once

// Text to token ids and back, as the checkpoint's own tokenizer does it. Built from a
// tokenizer.json or from a GGUF file's metadata; never guesses: a component it does not know is
// refused by name. A Tokenizer is immutable after load: any number of threads may use it at once. A
// StreamDecoder belongs to one thread at a time.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mummu/export.h"
#include "mummu/result.h"

namespace mummu {

using TokenId = int32_t;

struct Rendered;  // chat.h: text that knows where each run of it came from

struct EncodeOptions {
  bool add_special = true;     // add what the tokenizer's post-processor adds (BOS, CLS, SEP)
  bool parse_special = false;  // the text of control tokens becomes them; never for strangers' text
  // Cut to this many ids, special ones included, at the end that the files declare; 0: never.
  int64_t max_tokens = 0;
  // Fill up to this many ids, with the token and at the end that the files declare; 0: never.
  int64_t pad_to = 0;
};

// What a tokenizer's files declare for callers who want every text cut or padded alike; 0 where
// they say nothing. It is never applied unasked.
struct DeclaredLengths {
  int64_t max_tokens = 0;  // cut to so many ids
  int64_t pad_to = 0;      // fill up to so many ids
};

// One entry of the vocabulary that is matched as a whole before anything else looks at the text.
struct AddedToken {
  TokenId id = -1;
  std::string text{};
  bool special = false;  // declared special (tokenizer.json) or type 3 (GGUF)
  // Steers a conversation, whatever the file declares: text of users never becomes it.
  bool control = false;
  bool single_word = false, lstrip = false, rstrip = false, normalized = false;
};

class MUMMU_API Tokenizer {
 public:
  // Reads a GGUF file, a folder that holds tokenizer.json (with tokenizer_config.json beside it or
  // not), or the json itself.
  //   errors   not_found, corrupt, unsupported (names the component), no_memory
  static Result<Tokenizer> load(const std::string& path);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // The ids of one text (UTF-8, under 2 GiB).
  //   errors   invalid (not UTF-8: names the byte offset; max_tokens below what is added; padding
  //            that the files do not declare), no_memory
  Result<std::vector<TokenId>> encode(std::string_view text,
                                      const EncodeOptions& options = {}) const;

  // The ids of a rendered chat. A token is recognised only where the level of every byte of it
  // allows: control tokens in the template's own text, output marks (<think>, <tool_call>) in the
  // model's too. A BOS that both the template and the tokenizer would add is there once; nothing is
  // added at the end.
  //   errors   invalid (not UTF-8; runs that do not cover the text), no_memory
  Result<std::vector<TokenId>> encode(const Rendered& rendered) const;

  // The text of ids. Invalid UTF-8 in the tokens becomes U+FFFD.
  //   errors   invalid (an id outside the vocabulary)
  Result<std::string> decode(std::span<const TokenId> ids, bool skip_special = true) const;

  int64_t vocab() const;  // ids are 0 <= id < vocab()
  // The id of one whole token as it stands in the vocabulary, special ones included.
  std::optional<TokenId> find(std::string_view text) const;
  std::string_view text(TokenId id) const;  // as it stands in the vocabulary; empty for unknown ids
  // What a token adds to a text that it does not begin; it need not be whole code points. Empty for
  // unknown ids.
  std::string_view bytes(TokenId id) const;
  bool is_special(TokenId id) const;  // hidden by decode(skip_special)
  std::optional<TokenId> bos() const;
  std::optional<TokenId> eos() const;
  // Every id after which generation is over: those that the files name (eos, eot, eom), and the
  // well-known marks of a turn's or a text's end among the control tokens.
  std::span<const TokenId> end_ids() const;
  DeclaredLengths declared() const;
  std::span<const AddedToken> added() const;

  struct Impl;
  const Impl& impl() const { return *impl_; }
  explicit Tokenizer(std::unique_ptr<const Impl> impl);

 private:
  std::unique_ptr<const Impl> impl_;
};

// Turns ids into text as they come. What push returns is always whole code points; bytes of one
// that is not complete yet wait inside, and become U+FFFD if they never complete. The concatenation
// of everything returned is what Tokenizer::decode returns for all ids at once. The Tokenizer must
// outlive it.
class MUMMU_API StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool skip_special = true);

  // The text that this id completes; valid until the next call. Ids outside the vocabulary add
  // nothing.
  std::string_view push(TokenId id);
  // The rest, when no more ids come.
  std::string_view finish();

 private:
  void take_complete();

  const Tokenizer* tokenizer_;
  bool skip_special_;
  bool first_ = true;         // no token has come yet
  size_t front_dropped_ = 0;  // the decoder may drop spaces at the front of the whole text
  std::string pending_{};     // bytes of a code point that is not complete
  std::string out_{};
};

}  // namespace mummu
