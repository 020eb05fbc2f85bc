#pragma once

// What the engine needs of a model: run a step's tokens over pages of keys and values. One device's
// model today, later a pipeline of several; a fake one in tests. One thread at a time.

#include <cstdint>
#include <span>

#include "model/decoder.h"
#include "mummu/request.h"
#include "mummu/result.h"

namespace mummu {

class Forward {
 public:
  virtual ~Forward() = default;
  virtual int64_t vocab() const = 0;
  virtual int64_t context() const = 0;  // tokens the checkpoint was made for
  virtual int64_t page_bytes() const = 0;
  // Allocates `pages` pages and room for steps of `tokens` rows, `wanted` of them with logits.
  // Called once, before run.
  virtual Result<void> reserve(int64_t pages, int64_t tokens, int64_t wanted) = 0;
  // Computes a step. logits (batch.wanted.size(), vocab) f32, row-major.
  //   errors   device_lost, cancelled (batch.stop was set between layers; nothing that a page shows
  //   is trusted then)
  virtual Result<void> run(const Batch& batch, std::span<float> logits) = 0;
  virtual void copy_page(int32_t from, int32_t to) = 0;
};

}  // namespace mummu
