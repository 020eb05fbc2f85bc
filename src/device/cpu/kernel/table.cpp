// The table of one instruction set.

#include "device/cpu/kernel/ops.h"

namespace mummu::cpu {

#if defined(__AVX512F__)
const Kernels kAvx512Kernels = {
    .isa = "avx512",
#else
const Kernels kAvx2Kernels = {
    .isa = "avx2",
#endif
    .block_tile = MUMMU_KERNEL_NAMESPACE::kBlockTile,
    .float_tile = MUMMU_KERNEL_NAMESPACE::kFloatTile,
    .attention_pairs = MUMMU_KERNEL_NAMESPACE::kAttentionPairs,
    .rms_norm = MUMMU_KERNEL_NAMESPACE::rms_norm,
    .quantise_tile = MUMMU_KERNEL_NAMESPACE::quantise_tile,
    .interleave_tile = MUMMU_KERNEL_NAMESPACE::interleave_tile,
    .matmul = MUMMU_KERNEL_NAMESPACE::matmul,
    .gated = MUMMU_KERNEL_NAMESPACE::gated,
    .rope = MUMMU_KERNEL_NAMESPACE::rope,
    .kv_write = MUMMU_KERNEL_NAMESPACE::kv_write,
    .attention = MUMMU_KERNEL_NAMESPACE::attention,
    .merge_attention = MUMMU_KERNEL_NAMESPACE::merge_attention,
    .embedding = MUMMU_KERNEL_NAMESPACE::embedding,
    .short_conv = MUMMU_KERNEL_NAMESPACE::short_conv,
    .route = MUMMU_KERNEL_NAMESPACE::route,
    .layer_norm = MUMMU_KERNEL_NAMESPACE::layer_norm,
    .gelu = MUMMU_KERNEL_NAMESPACE::gelu,
    .add = MUMMU_KERNEL_NAMESPACE::add,
    .l2_norm = MUMMU_KERNEL_NAMESPACE::l2_norm,
    .add_product = MUMMU_KERNEL_NAMESPACE::add_product,
};

}  // namespace mummu::cpu
