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
//   source   ggml's block structs as documented for GGUF (Q4_0: 32 nibbles and an f16 scale, Q4_1:
//   also an f16 minimum,
//            Q8_0: 32 int8 and an f16 scale; the K types are super-blocks of 256)
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

// Bytes of one row of `columns` elements.
//   requires  columns a multiple of the block's elements
constexpr int64_t row_bytes(DType type, int64_t columns) {
  return columns / info(type).elements * info(type).bytes;
}

}  // namespace mummu
