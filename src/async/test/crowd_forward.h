#pragma once

// For tests: a Forward that counts how many sequences advance together, and does not begin before
// all of them are there, so that the count does not depend on who was quicker.

#include <array>
#include <atomic>

#include "async/test/fake_worker.h"
#include "engine/device_forward.h"
#include "engine/engine_impl.h"
#include "model/model_impl.h"

namespace mummu::test {

// What the engines of one worker have in common. Written by the thread that drives.
class Crowd {
 public:
  // Engine 0 has the request.
  void computed(size_t engine, size_t sequences) {
    wait_for([&] { return complete_.load(); });
    latest_[engine] = static_cast<int64_t>(sequences);
    if (engine != 0) return;
    most_ = std::max<int64_t>(most_, latest_[0] + std::exchange(latest_[1], 0));
  }
  // Before this, and after hold(), nothing is computed.
  void is_complete() { complete_ = true; }
  void hold() { complete_ = false; }
  int64_t most() const { return most_; }

 private:
  std::atomic<bool> complete_ = false;
  std::array<int64_t, 2> latest_{};
  std::atomic<int64_t> most_ = 0;
};

class CrowdForward final : public Forward {
 public:
  CrowdForward(std::unique_ptr<Forward> forward, std::shared_ptr<Crowd> crowd, size_t engine)
      : forward_(std::move(forward)), crowd_(std::move(crowd)), engine_(engine) {}

  int64_t vocab() const override { return forward_->vocab(); }
  int64_t context() const override { return forward_->context(); }
  int64_t page_bytes() const override { return forward_->page_bytes(); }
  Result<void> reserve(int64_t pages, int64_t tokens, int64_t wanted) override {
    return forward_->reserve(pages, tokens, wanted);
  }
  Result<void> run(const Batch& batch, std::span<float> logits) override {
    crowd_->computed(engine_, batch.segments.size());
    return forward_->run(batch, logits);
  }
  void copy_page(int32_t from, int32_t to) override { forward_->copy_page(from, to); }

 private:
  std::unique_ptr<Forward> forward_;
  std::shared_ptr<Crowd> crowd_;
  size_t engine_;
};

inline Engine crowd_engine(const Model& model, const EngineOptions& options,
                           const std::shared_ptr<Crowd>& crowd, size_t engine = 0) {
  const Model::Impl& impl = model.impl();
  auto forward = std::make_unique<CrowdForward>(
      std::make_unique<DeviceForward>(*impl.ops, impl.decoder, options.kv), crowd, engine);
  return Engine(std::make_unique<Engine::Impl>(EngineParts{.forward = std::move(forward),
                                                           .tokenizer = &impl.tokenizer,
                                                           .model = &impl,
                                                           .end_ids = impl.info.end_ids,
                                                           .now_ms = {}},
                                               options));
}

}  // namespace mummu::test
