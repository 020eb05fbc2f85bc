#pragma once

// The element types that files hold and devices compute with, and how many bytes a row of them
// takes.

#include <cstdint>
#include <optional>
#include <string_view>

namespace mummu {

enum class DType : uint8_t {
  f32,
  f16,
  bf16,
  i32,
  u8,
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q4_k,
  q5_k,
  q6_k
};

// One block of a type: `elements` values in `bytes` bytes. Float and integer types are blocks of
// one.
//   source   ggml's block structs as documented for GGUF, and the gguf package 0.19 (quants.py):
//     Q8_0   f16 d, 32 int8
//     Q4_0   f16 d, 16 bytes: byte j holds element j in its low half, j + 16 in its high half
//     Q4_1   f16 d, f16 m, then as Q4_0
//     Q5_0   f16 d, u32 with bit k the fifth bit of element k, then as Q4_0
//     Q5_1   f16 d, f16 m, then as Q5_0
//     Q4_K   f16 d, f16 dmin, 12 bytes of 8 scales and 8 minima of 6 bits, 4 parts of 32 bytes:
//            byte j of part g holds element j of sub-block 2g in its low half, of 2g + 1 in its
//            high half
//     Q5_K   Q4_K with 32 bytes before the nibbles: bit b of byte j is the fifth bit of element j
//            of sub-block b
//     Q6_K   2 x 64 bytes of low halves, 2 x 32 bytes of bit pairs, 16 int8 scales, f16 d; half n
//            holds sub-blocks 4n + i: low halves in byte 32 (i mod 2) + j, its low half for i < 2;
//            bits 2i, 2i + 1 of byte j of the pairs
struct DTypeInfo {
  std::string_view name;
  int64_t elements;
  int64_t bytes;
};

constexpr DTypeInfo kDTypes[] = {
    {"F32", 1, 4},      {"F16", 1, 2},      {"BF16", 1, 2},     {"I32", 1, 4},    {"U8", 1, 1},
    {"Q8_0", 32, 34},   {"Q4_0", 32, 18},   {"Q4_1", 32, 20},   {"Q5_0", 32, 22}, {"Q5_1", 32, 24},
    {"Q4_K", 256, 144}, {"Q5_K", 256, 176}, {"Q6_K", 256, 210},
};

constexpr const DTypeInfo& info(DType type) { return kDTypes[static_cast<int>(type)]; }
constexpr std::string_view name(DType type) { return info(type).name; }
constexpr bool is_quantised(DType type) { return type >= DType::q8_0; }
// Whether blocks hold a minimum beside their scale.
constexpr bool has_minimum(DType type) {
  return type == DType::q4_1 || type == DType::q5_1 || type == DType::q4_k || type == DType::q5_k;
}

// Bytes of one row of `columns` elements.
//   requires  columns a multiple of the block's elements
constexpr int64_t row_bytes(DType type, int64_t columns) {
  return columns / info(type).elements * info(type).bytes;
}

}  // namespace mummu
