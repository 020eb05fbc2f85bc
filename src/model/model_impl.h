#pragma once

// What a Model is made of. Constant after load.

#include <optional>

#include "model/decoder.h"
#include "mummu/model.h"

namespace mummu {

struct Model::Impl {
  ModelInfo info;
  Decoder decoder;
  Ops* ops = nullptr;
  Tokenizer tokenizer;
  std::optional<ChatTemplate> chat_template;
};

}  // namespace mummu
