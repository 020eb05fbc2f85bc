#pragma once

// JSON mode: the answer is one JSON object. What the model may say next is worked out for every
// token at once, from tables that are made once per tokenizer. A JsonMode is immutable: any number
// of requests may use it at once, on any thread. It must outlive them, and the Tokenizer must
// outlive it.
//
//   auto json = mummu::JsonMode::make(model->tokenizer());
//   auto request = mummu::chat(*model, messages, {.constraint = json->constraint()});
//
// The text is one object and parses: well-formed UTF-8, \u surrogates in pairs, at most 64 levels,
// at most 8 bytes of white space in a row, none behind the object; numbers of at most 64 digits on
// either side of the point, below 10^308. The answer ends with the object (Finish::stop), whatever
// min_tokens and ignore_eos say. Where it ends before (max_tokens, a stop text, the context), it is
// the beginning of such an object. Control tokens never occur.

#include <memory>

#include "mummu/constraint.h"
#include "mummu/export.h"
#include "mummu/result.h"
#include "mummu/tokenizer.h"

namespace mummu {

class MUMMU_API JsonMode {
 public:
  // Takes about 0.2 s and 10 MB at 150,000 tokens.
  //   errors   unsupported (a tokenizer that drops other characters than spaces at the front of a
  //            text), no_memory
  static Result<JsonMode> make(const Tokenizer& tokenizer);

  JsonMode(JsonMode&&) noexcept;
  JsonMode& operator=(JsonMode&&) noexcept;
  ~JsonMode();

  // For RequestOptions::constraint. An engine of another tokenizer refuses it: invalid.
  ConstraintFactory constraint() const;

  struct Impl;

 private:
  explicit JsonMode(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace mummu
