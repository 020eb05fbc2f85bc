#pragma once

// A load in steps: everything is planned and checked first, then step() reads tensor after tensor
// until there is nothing left. It may move between calls, and dropping it drops what was loaded.
// One thread at a time; the Device must outlive it.

#include <memory>
#include <string>

#include "model/checkpoint.h"
#include "model/load_weights.h"
#include "model/model_impl.h"
#include "mummu/model.h"
#include "mummu/result.h"

namespace mummu {

class ModelLoad {
 public:
  // Opens and checks everything but the payload.
  //   errors   those of Model::load but cancelled
  static Result<ModelLoad> plan(const std::string& path, const Device& device,
                                const LoadOptions& options);

  // Reads the next tensor; false when all are read.
  Result<bool> step();
  // The model, tried once: finite logits that are not all the same.
  //   requires step() returned false
  Result<Model> finish();

  // All of it at once, as Model::load does: 16 MiB or an eighth of the model a step.
  //   errors   those of step and finish, cancelled (options.on_progress returned false)
  Result<Model> run(const std::string& path, const LoadOptions& options);

  const LoadProgress& progress() const { return load_->progress(); }
  const ModelInfo& info() const { return impl_->info; }
  const Tokenizer& tokenizer() const { return impl_->tokenizer; }

 private:
  ModelLoad() = default;

  std::unique_ptr<Checkpoint> checkpoint_;
  std::unique_ptr<Model::Impl> impl_;
  std::unique_ptr<WeightPlan> plan_;
  std::unique_ptr<WeightLoad> load_;
};

// Runs a few tokens through a network whose weights are loaded.
//   errors   corrupt (numbers that are not finite or all equal, rope divisors that are none),
//            no_memory
Result<void> check_alive(Ops& ops, const Decoder& decoder, const std::string& path);
Result<void> check_alive(Ops& ops, const Encoder& encoder, const std::string& path);

}  // namespace mummu
