#include "file/gguf_type.h"

#include <algorithm>

namespace mummu {
namespace {

constexpr GgufTypeInfo kValueTypes[] = {
    {"uint8", 1},  {"int8", 1},    {"uint16", 2},  {"int16", 2},  {"uint32", 4},
    {"int32", 4},  {"float32", 4}, {"bool", 1},    {"string", 0}, {"array", 0},
    {"uint64", 8}, {"int64", 8},   {"float64", 8},
};

constexpr GgmlType kTensorTypes[] = {
    {0, "F32", 1, 4, DType::f32},           {1, "F16", 1, 2, DType::f16},
    {2, "Q4_0", 32, 18, DType::q4_0},       {3, "Q4_1", 32, 20, DType::q4_1},
    {4, "Q4_2", 0, 0, std::nullopt},        {5, "Q4_3", 0, 0, std::nullopt},
    {6, "Q5_0", 32, 22, DType::q5_0},       {7, "Q5_1", 32, 24, DType::q5_1},
    {8, "Q8_0", 32, 34, DType::q8_0},       {9, "Q8_1", 32, 40, std::nullopt},
    {10, "Q2_K", 256, 84, std::nullopt},    {11, "Q3_K", 256, 110, std::nullopt},
    {12, "Q4_K", 256, 144, DType::q4_k},    {13, "Q5_K", 256, 176, DType::q5_k},
    {14, "Q6_K", 256, 210, DType::q6_k},    {15, "Q8_K", 256, 292, std::nullopt},
    {16, "IQ2_XXS", 256, 66, std::nullopt}, {17, "IQ2_XS", 256, 74, std::nullopt},
    {18, "IQ3_XXS", 256, 98, std::nullopt}, {19, "IQ1_S", 256, 50, std::nullopt},
    {20, "IQ4_NL", 32, 18, std::nullopt},   {21, "IQ3_S", 256, 110, std::nullopt},
    {22, "IQ2_S", 256, 82, std::nullopt},   {23, "IQ4_XS", 256, 136, std::nullopt},
    {24, "I8", 1, 1, std::nullopt},         {25, "I16", 1, 2, std::nullopt},
    {26, "I32", 1, 4, DType::i32},          {27, "I64", 1, 8, std::nullopt},
    {28, "F64", 1, 8, std::nullopt},        {29, "IQ1_M", 256, 56, std::nullopt},
    {30, "BF16", 1, 2, DType::bf16},        {31, "Q4_0_4_4", 0, 0, std::nullopt},
    {32, "Q4_0_4_8", 0, 0, std::nullopt},   {33, "Q4_0_8_8", 0, 0, std::nullopt},
    {34, "TQ1_0", 256, 54, std::nullopt},   {35, "TQ2_0", 256, 66, std::nullopt},
    {36, "IQ4_NL_4_4", 0, 0, std::nullopt}, {37, "IQ4_NL_4_8", 0, 0, std::nullopt},
    {38, "IQ4_NL_8_8", 0, 0, std::nullopt}, {39, "MXFP4", 32, 17, std::nullopt},
    {40, "NVFP4", 64, 36, std::nullopt},    {41, "Q1_0", 128, 18, std::nullopt},
};

// Where both tables name a type, they agree on its block.
static_assert(std::ranges::all_of(kTensorTypes, [](const GgmlType& row) {
  return !row.type ||
         (info(*row.type).elements == row.elements && info(*row.type).bytes == row.bytes);
}));

}  // namespace

const GgufTypeInfo* gguf_type_info(uint32_t number) {
  return number < std::size(kValueTypes) ? &kValueTypes[number] : nullptr;
}

const GgmlType* find_ggml_type(uint32_t number) {
  const auto* found = std::ranges::find(kTensorTypes, number, &GgmlType::number);
  return found == std::end(kTensorTypes) ? nullptr : found;
}

}  // namespace mummu
