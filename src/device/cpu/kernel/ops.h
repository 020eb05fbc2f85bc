#pragma once

// The kernels of one instruction set, for its table (table.cpp), and the sizes of their tiles: as
// many accumulators as its registers hold.

#include "device/cpu/kernels.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {

using namespace mummu::cpu;

#if defined(__AVX512F__)
constexpr int kBlockTile = 16;
constexpr int kFloatTile = 16;
constexpr int kAttentionPairs = 12;
constexpr int kScorePages = 2;
constexpr int kValueVectors = 2;
#else
constexpr int kBlockTile = 4;
constexpr int kFloatTile = 6;
constexpr int kAttentionPairs = 6;
constexpr int kScorePages = 1;
constexpr int kValueVectors = 1;
#endif

void rms_norm(const float* x, const float* weight, int64_t columns, float eps, float* out);
void quantise_tile(const PrepareRun& run, int64_t tile);
void interleave_tile(const PrepareRun& run, int64_t tile);
void matmul(const PanelRun& run);
void gated(const GatedRun& run);
void rope(const RopeRun& run);
void kv_write(const KvRun& run);
void attention(const AttentionRun& run);
void merge_attention(const AttentionRun& run);
void embedding(DType type, const std::byte* packed, int64_t panel_bytes, int64_t columns,
               int64_t row, float* out);
void short_conv(const ConvRun& run);
void route(const RouteRun& run);
void layer_norm(const float* x, const float* weight, const float* bias, int64_t columns, float eps,
                float* out);
void gelu(const float* x, int64_t count, float* out);
void add(const float* x, int64_t count, float* out);
void l2_norm(const float* x, int64_t columns, float* out);
void add_product(float factor, const float* x, int64_t count, float* out);

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
