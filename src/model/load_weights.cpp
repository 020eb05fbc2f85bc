#include "model/load_weights.h"

#include <cstring>
#include <memory>

#include "base/fail.h"
#include "base/widen.h"
#include "file/quote.h"
#include "model/quantise.h"

namespace mummu {

namespace {

int64_t file_bytes(const PlannedTensor& planned) {
  return planned.rows * row_bytes(*planned.tensor->type, planned.columns);
}

}  // namespace

Result<std::vector<float>> read_floats(const TensorTable& table, const TensorInfo& tensor) {
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.size_bytes));
  MUMMU_TRY(table.read(tensor, 0, bytes));
  std::vector<float> out(static_cast<size_t>(tensor.elements()));
  widen(*tensor.type, bytes.data(), tensor.elements(), out.data());
  return out;
}

WeightLoad::WeightLoad(const WeightPlan& plan, Ops& ops)
    : table_(plan.table()), ops_(ops), planned_(plan.in_file_order()) {
  progress_.total = plan.file_bytes();
}

Result<bool> WeightLoad::step(int64_t bytes) {
  if (next_ == planned_.size()) return false;
  std::vector<const PlannedTensor*> matrices;
  int64_t loaded = 0;
  do {
    const PlannedTensor& planned = planned_[next_];
    if (planned.matrix) {
      matrices.push_back(&planned);
    } else {
      MUMMU_TRY(load_vector(planned));
    }
    loaded += file_bytes(planned);
    ++next_;
  } while (next_ < planned_.size() && loaded + file_bytes(planned_[next_]) <= bytes);
  MUMMU_TRY(load_matrices(matrices));
  progress_.bytes += loaded;
  return true;
}

Result<void> WeightLoad::read_rows(const PlannedTensor& planned, int64_t first, int64_t count,
                                   std::span<std::byte> out) const {
  const TensorInfo& tensor = *planned.tensor;
  const int64_t row = row_bytes(*tensor.type, planned.columns);
  first += planned.first_row;
  const int64_t head = planned.order.interleaved_head_dim;
  if (head == 0) return table_.read(tensor, first * row, out);
  // Whole heads at once, then row by row into their order.
  const int64_t begin = first / head * head;
  const int64_t end = (first + count + head - 1) / head * head;
  const auto bytes = static_cast<size_t>((end - begin) * row);
  const auto heads = std::make_unique_for_overwrite<std::byte[]>(bytes);
  MUMMU_TRY(table_.read(tensor, begin * row, {heads.get(), bytes}));
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(out.data() + i * row,
                heads.get() + (planned.order.file_row(first + i) - begin) * row,
                static_cast<size_t>(row));
  return {};
}

Result<void> WeightLoad::quantise_rows(const PlannedTensor& planned, int64_t first, int64_t count,
                                       std::span<std::byte> out) const {
  const DType stored = *planned.tensor->type;
  const auto columns = static_cast<size_t>(planned.columns);
  const auto stored_row = static_cast<size_t>(row_bytes(stored, planned.columns));
  const auto row = static_cast<size_t>(row_bytes(planned.type, planned.columns));
  std::vector<std::byte> bytes(static_cast<size_t>(count) * stored_row);
  MUMMU_TRY(read_rows(planned, first, count, bytes));
  std::vector<float> values(columns);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    widen(stored, bytes.data() + i * stored_row, planned.columns, values.data());
    if (quantise_row(planned.type, values, out.subspan(i * row, row))) continue;
    return fail(Error::corrupt, "{}: {} row {} has a value that is not finite or too large for {}",
                table_.path(*planned.tensor), quote(planned.tensor->name),
                planned.first_row + first + static_cast<int64_t>(i), name(planned.type));
  }
  return {};
}

WeightSource WeightLoad::source(const PlannedTensor& planned) const {
  const bool as_stored = planned.type == *planned.tensor->type;
  const auto read = [this, &planned, as_stored](int64_t first, int64_t count,
                                                std::span<std::byte> out) {
    return as_stored ? read_rows(planned, first, count, out)
                     : quantise_rows(planned, first, count, out);
  };
  return {.type = planned.type, .rows = planned.rows, .columns = planned.columns, .read = read};
}

Result<void> WeightLoad::load_matrices(std::span<const PlannedTensor* const> matrices) {
  std::vector<WeightSource> sources;
  for (const PlannedTensor* planned : matrices) sources.push_back(source(*planned));
  MUMMU_TRY(auto weights, ops_.pack_all(sources));
  for (size_t i = 0; i < matrices.size(); ++i) {
    packed_bytes_ += weights[i].bytes();
    *matrices[i]->matrix = std::move(weights[i]);
  }
  return {};
}

Result<void> WeightLoad::load_vector(const PlannedTensor& planned) {
  MUMMU_TRY(const auto stored, read_floats(table_, *planned.tensor));
  std::vector<float> values(stored.size());
  for (size_t i = 0; i < values.size(); ++i) {
    auto from = static_cast<int64_t>(i);
    if (planned.transposed) from = from % planned.columns * planned.rows + from / planned.columns;
    values[i] = stored[static_cast<size_t>(planned.order.file_row(from))];
  }
  if (planned.host) {
    *planned.host = std::move(values);
    return {};
  }
  MUMMU_TRY(*planned.vector, ops_.make(DType::f32, planned.rows, planned.columns));
  ops_.upload(values.data(), planned.vector->view());
  packed_bytes_ += planned.vector->view().bytes();
  return {};
}

}  // namespace mummu
