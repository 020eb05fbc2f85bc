#pragma once

// A model family: how its configuration is read from either format, which tensors it has, and what
// they make. One file a family, named as its model_type; registry.cpp lists them.

#include <span>
#include <string_view>

#include "file/gguf.h"
#include "file/json.h"
#include "model/config.h"
#include "model/decoder.h"
#include "model/encoder.h"
#include "model/weight_plan.h"
#include "mummu/result.h"

namespace mummu {

struct Family {
  std::string_view name;  // model_type of config.json and general.architecture of GGUF
  Result<ModelConfig> (*from_json)(const JsonObject& config);
  Result<ModelConfig> (*from_gguf)(const Gguf& file);
  // Makes the layers and asks the plan for every tensor that they need. Weights are empty until the
  // plan is loaded; the network stays where it is until then. A family is a decoder or an encoder;
  // the other function is null.
  void (*bind)(const ModelConfig& config, WeightPlan& plan, Decoder& decoder);
  void (*bind_encoder)(const ModelConfig& config, WeightPlan& plan, Encoder& encoder) = nullptr;
};

extern const Family kLlama, kQwen2, kQwen3, kLfm2, kOlmoe, kBert;

std::span<const Family* const> known_families();

// `where` is the file, for messages.
//   errors   unsupported (names it, and lists the known)
Result<const Family*> find_family(std::string_view name, std::string_view where);

}  // namespace mummu
