#include "file/tensor_info.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked.h"

namespace mummu {

std::optional<int64_t> checked_elements(const std::vector<int64_t>& shape) {
  std::vector<int64_t> factors = shape;
  std::ranges::replace(factors, 0, 1);
  const auto product = checked_product(factors);
  const bool empty = std::ranges::find(shape, 0) != shape.end();
  return product && empty ? 0 : product;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

}  // namespace mummu
