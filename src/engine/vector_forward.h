#pragma once

// The network under an Embedder: runs whole texts, packed one after another, and leaves one vector
// a text on the device. One for each kind of network; each owns the activations that it needs. One
// thread at a time.

#include <memory>
#include <span>

#include "device/ops.h"
#include "model/model_impl.h"
#include "mummu/result.h"

namespace mummu {

class VectorForward {
 public:
  virtual ~VectorForward() = default;

  // Tokens and texts of one call to run; a longer text goes alone.
  virtual int64_t most_tokens() const = 0;
  virtual int64_t most_texts() const = 0;

  // What one text comes to does not depend on the others.
  //   shapes   ids: the sum of lengths   out (texts, hidden) f32, on the device
  //   requires lengths at least 1 and not above the network's context; several texts stay within
  //            most_tokens()
  //   errors   no_memory, device_lost
  virtual Result<void> run(std::span<const TokenId> ids, std::span<const int64_t> lengths,
                           View out) = 0;
};

// `longest`: the most tokens of a text. The model must outlive it.
//   errors   no_memory
Result<std::unique_ptr<VectorForward>> make_vector_forward(const Model::Impl& model, Pool how,
                                                           int64_t longest);

}  // namespace mummu
