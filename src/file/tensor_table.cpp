#include "file/tensor_table.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/fail.h"
#include "file/quote.h"

namespace mummu {

Result<TensorTable> TensorTable::make(FileReader file, std::vector<TensorInfo> tensors) {
  TensorTable table;
  table.files_.push_back(std::move(file));
  table.tensors_ = std::move(tensors);
  MUMMU_TRY(table.index());
  return table;
}

Result<TensorTable> TensorTable::join(std::vector<TensorTable> parts) {
  TensorTable table;
  for (TensorTable& part : parts) {
    const auto files = static_cast<int32_t>(table.files_.size());
    for (TensorInfo& tensor : part.tensors_) tensor.file_index += files;
    std::ranges::move(part.files_, std::back_inserter(table.files_));
    std::ranges::move(part.tensors_, std::back_inserter(table.tensors_));
    part = {};
  }
  MUMMU_TRY(table.index());
  return table;
}

Result<void> TensorTable::index() {
  const auto name = [this](int32_t i) -> std::string_view {
    return tensors_[static_cast<size_t>(i)].name;
  };
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0);
  std::ranges::sort(by_name_, {}, [&name](int32_t i) { return std::pair(name(i), i); });
  const auto twice = std::ranges::adjacent_find(by_name_, {}, name);
  if (twice == by_name_.end()) return {};
  const TensorInfo& first = tensors_[static_cast<size_t>(twice[0])];
  const TensorInfo& second = tensors_[static_cast<size_t>(twice[1])];
  if (first.file_index == second.file_index) {
    return fail(Error::corrupt, "{}: two tensors are named {}", path(first), quote(first.name));
  }
  return fail(Error::corrupt, "{}: tensor {} is also in {}", path(second), quote(second.name),
              path(first));
}

const TensorInfo* TensorTable::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(by_name_, name, {}, [this](int32_t i) {
    return std::string_view(tensors_[static_cast<size_t>(i)].name);
  });
  if (found == by_name_.end()) return nullptr;
  const TensorInfo& tensor = tensors_[static_cast<size_t>(*found)];
  return tensor.name == name ? &tensor : nullptr;
}

const std::string& TensorTable::path(const TensorInfo& tensor) const {
  return files_[static_cast<size_t>(tensor.file_index)].path();
}

Result<void> TensorTable::read(const TensorInfo& tensor, int64_t offset,
                               std::span<std::byte> out) const {
  const auto bytes = static_cast<int64_t>(out.size());
  if (offset < 0 || offset > tensor.size_bytes || bytes > tensor.size_bytes - offset) {
    return fail(Error::invalid, "{}: tensor {} has {} bytes; {} were asked for at byte {}",
                path(tensor), quote(tensor.name), tensor.size_bytes, bytes, offset);
  }
  return files_[static_cast<size_t>(tensor.file_index)].read(tensor.offset_bytes + offset, out);
}

}  // namespace mummu
