#pragma once

// A Forward over one device's model: the model's decoder, and pages and activations of its own.

#include <memory>

#include "engine/forward.h"
#include "model/decoder.h"
#include "mummu/engine.h"

namespace mummu {

class DeviceForward final : public Forward {
 public:
  // Both must outlive it.
  DeviceForward(Ops& ops, const Decoder& decoder, KvType kv);

  int64_t vocab() const override { return decoder_.vocab(); }
  int64_t context() const override { return decoder_.context(); }
  int64_t page_bytes() const override { return decoder_.page_bytes(kv_); }
  Result<void> reserve(int64_t pages, int64_t tokens, int64_t wanted) override;
  Result<void> run(const Batch& batch, std::span<float> logits) override;
  void copy_page(int32_t from, int32_t to) override;

 private:
  Ops& ops_;
  const Decoder& decoder_;
  DType kv_;
  DecoderState state_;
};

}  // namespace mummu
