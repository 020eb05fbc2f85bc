#pragma once

// What a model file says about one tensor: name, type, shape and where its bytes are. The same for
// every format.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace mummu {

struct TensorInfo {
  std::string name;
  std::optional<DType> type;   // empty: the format knows this type, we do not compute with it
  std::string_view type_name;  // as the format spells it ("Q4_K", "IQ2_XS"); lives for ever
  std::vector<int64_t>
      shape;                 // row-major: a matrix is (rows, columns) in every format; () a scalar
  int64_t offset_bytes = 0;  // from the start of its file
  int64_t size_bytes = 0;    // checked against shape, type and the file's size
  int32_t file_index = 0;    // which file of TensorTable::files() holds it

  // Elements in all. Does not overflow: the readers have checked the shape.
  int64_t elements() const {
    int64_t product = 1;
    for (int64_t dimension : shape) product *= dimension;
    return product;
  }
};

// The elements of a shape; empty if they overflow. A dimension of 0 makes a tensor empty, but does
// not hide that the product of the others overflows.
std::optional<int64_t> checked_elements(const std::vector<int64_t>& shape);

// "(576, 1536)", for messages.
std::string shape_text(const std::vector<int64_t>& shape);

}  // namespace mummu
