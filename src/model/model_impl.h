#pragma once

// What a Model is made of. Constant after load.

#include <memory>
#include <optional>

#include "model/decoder.h"
#include "model/encoder.h"
#include "mummu/model.h"

namespace mummu {

struct Model::Impl {
  ModelInfo info;
  Decoder decoder;
  std::unique_ptr<Encoder> encoder;  // in place of the decoder, or null
  Ops* ops = nullptr;
  Tokenizer tokenizer;
  std::optional<ChatTemplate> chat_template;
};

}  // namespace mummu
