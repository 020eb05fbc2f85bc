#pragma once

// The numbers of the GGUF format: types of metadata values and of tensors.
//   source   https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (gguf_metadata_value_type,
//            ggml_type); block sizes from the gguf package 0.19 (GGML_QUANT_SIZES)

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/dtype.h"

namespace mummu {

enum class GgufType : uint32_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float32,
  boolean,
  string,
  array,
  uint64,
  int64,
  float64
};

// Bytes of one value (0: string and array have no fixed size).
struct GgufTypeInfo {
  std::string_view name;
  int64_t bytes;
};

// nullptr: no such type.
const GgufTypeInfo* gguf_type_info(uint32_t number);

// A tensor type: `elements` values take `bytes` bytes. 0 elements: the format has dropped this
// type.
struct GgmlType {
  uint32_t number;
  std::string_view name;
  int64_t elements;
  int64_t bytes;
  std::optional<DType> type;  // empty: we do not compute with it
};

// nullptr: no such type.
const GgmlType* find_ggml_type(uint32_t number);

}  // namespace mummu
