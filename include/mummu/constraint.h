#pragma once

// What a choice may say next. A Constraint is the state of one choice: the engine asks it for a
// mask before every sample and tells it every token. It runs on the thread that steps the engine.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "mummu/result.h"
#include "mummu/tokenizer.h"

namespace mummu {

class Constraint {
 public:
  virtual ~Constraint() = default;

  // Clears the bit of every token that may not come next: bit id % 64 of allowed[id / 64], all set
  // on entry. End-of-sequence ids are cleared by the engine while !is_complete().
  virtual void mask(std::span<uint64_t> allowed) = 0;
  // One of the allowed tokens was chosen.
  virtual void accept(TokenId id) = 0;
  // Whether the text so far may end here.
  virtual bool is_complete() const = 0;
};

// Makes the constraint of one choice. Called once per choice by Engine::admit; the Tokenizer
// outlives what it makes.
using ConstraintFactory = std::function<Result<std::unique_ptr<Constraint>>(const Tokenizer&)>;

}  // namespace mummu
