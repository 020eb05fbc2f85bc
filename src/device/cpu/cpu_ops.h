#pragma once

// The CPU device: decides which rows are computed together and by whom, and leaves the arithmetic
// to the kernels of one instruction set. Ops run at once, one parallel region each, or none where
// the work is smaller than waking a thread.

#include <span>

#include "device/cpu/kernels.h"
#include "device/cpu/memory.h"
#include "device/cpu/schedule.h"
#include "device/ops.h"

namespace mummu::cpu {

class CpuOps final : public Ops {
 public:
  CpuOps(Parallel parallel, const Kernels& kernels)
      : schedule_(std::move(parallel)), kernels_(kernels) {}

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
  // More tokens than this pass through a matmul in groups, which bounds the scratch.
  static constexpr int64_t kGroupTokens = 512;
  static constexpr int64_t kPartialFloats = 256 * 1024;

  // Tokens as the kernels want them, for weights of blocks or of floats.
  struct Prepared {
    Tiles split;
    const std::byte* tiles;
  };

  Prepared prepare_blocks(View x, int64_t tile);
  Prepared prepare_floats(View x, int64_t tile);
  Prepared prepare(View x, bool blocks, int64_t tile);
  int64_t largest_tile(bool blocks) const;
  void matmul_group(View x, std::span<const MatmulOut> outs, int64_t first_token);
  void gated_group(View x, const Weight& gate, const Weight& up, View out);

  Schedule schedule_;
  const Kernels& kernels_;
  Arena arena_;      // of weights
  Scratch scratch_;  // a weight on its way from the file
  // Scratch of a matmul: the prepared tokens of one group.
  Tensor blocks_;  // (tokens, block bytes) u8
  Tensor floats_;  // (tokens, columns) f32
  // Scratch of an attention that is cut by spans; what does not fit is not cut.
  Tensor partials_;  // (1, kPartialFloats) f32
};

}  // namespace mummu::cpu
