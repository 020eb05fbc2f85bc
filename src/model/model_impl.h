#pragma once

// What a Model is made of. Constant after load.

#include <memory>
#include <optional>

#include "model/decoder.h"
#include "model/encoder.h"
#include "mummu/model.h"
#include "mummu/thread_facts.h"

namespace mummu {

class Ops;

// Weights and tables: constant after load, and run() writes only to the state it is given.
template <>
struct ThreadFacts<Decoder> : MovableAndShareable {};
template <>
struct ThreadFacts<Encoder> : MovableAndShareable {};
// A Model asks its device only for what is constant; steps are one thread's at a time (Device).
template <>
struct ThreadFacts<Ops*> : MovableAndShareable {};

struct Model::Impl {
  using thread_members = ThreadMembers<ModelInfo, Decoder, std::unique_ptr<Encoder>, Ops*,
                                       Tokenizer, std::optional<ChatTemplate>>;

  ModelInfo info;
  Decoder decoder;
  std::unique_ptr<Encoder> encoder;  // in place of the decoder, or null
  Ops* ops = nullptr;
  Tokenizer tokenizer;
  std::optional<ChatTemplate> chat_template;
};

}  // namespace mummu
