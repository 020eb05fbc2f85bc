#pragma once

// The arithmetic contract in plain scalar C++: every op of device/ops.h, one file each, in exactly
// the order that its comment states, with std::fma and software half floats. It is what every
// kernel is compared to, what golden/hashes.txt is made by, and what runs on CPUs that have no
// kernels. Weights stay as the file lays them out. It shares nothing with cpu/ but constants.

#include <memory>
#include <span>

#include "device/ops.h"
#include "device/reference/quantise.h"

namespace mummu::reference {

class ReferenceOps final : public Ops {
 public:
  explicit ReferenceOps(Parallel parallel) : parallel_(std::move(parallel)) {}

  DeviceInfo device_info() const override;

  Result<Tensor> make(DType type, int64_t rows, int64_t columns) override;
  void upload(const void* host, View view) override;
  void download(View view, void* host) override;
  Result<std::vector<Weight>> pack_all(std::span<const WeightSource> sources) override;
  int64_t packed_bytes(DType type, int64_t rows, int64_t columns) const override;
  Result<void> reserve(int64_t tokens, int64_t columns) override;

  void start() override {}
  Result<void> finish() override { return {}; }

  void embedding(const Weight& table, View ids, View out) override;
  void gather(View x, View from, View out) override;
  void rms_norm(View x, View weight, float eps, View out) override;
  void matmul(View x, std::span<const MatmulOut> outs) override;
  void gated(View x, const Weight& gate, const Weight& up, View out) override;
  void rope(View x, int64_t heads, View positions, View cos_sin) override;
  void kv_write(View k, View v, const KvLayer& layer, std::span<const Segment> segments) override;
  void attention(View q, int64_t heads, float scale, const KvLayer& layer,
                 std::span<const Segment> segments, View out) override;
  void short_conv(View bcx, View kernel, View bias, const ConvLayer& layer,
                  std::span<const Segment> segments, View out) override;
  void route(View scores, bool normalise, View chosen, View share) override;
  void experts(View x, const Experts& experts, View chosen, View share, View out) override;
  void layer_norm(View x, View weight, View bias, float eps, View out) override;
  void gelu(View x, View out) override;
  void add(View x, View out) override;
  void pool(View x, Pool how, std::span<const PoolRun> runs, View out) override;
  void l2_norm(View x, View out) override;

 private:
  // Quantises the rows of x, as quantised_row then finds them.
  void quantise_rows(View x);
  QuantisedRow quantised_row(int64_t token) const;

  Parallel parallel_;
  // The quantised input of a matmul, one row per token.
  Tensor quantised_;  // (tokens, columns) u8, holding int8
  Tensor scale_;      // (tokens, columns / 32) f32
  Tensor sum_;        // (tokens, columns / 32) f32
};

}  // namespace mummu::reference

namespace mummu {

// The reference device. Never fails but for want of memory.
Result<std::unique_ptr<Ops>> open_reference(DeviceOptions options);

}  // namespace mummu
