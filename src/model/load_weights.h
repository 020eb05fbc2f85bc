#pragma once

// Reads what a WeightPlan found and packs it on the device, some tensors at a time, in the order of
// the files. Never holds more than one tensor besides what is packed.

#include <cstdint>
#include <span>
#include <vector>

#include "model/weight_plan.h"
#include "mummu/model.h"
#include "mummu/result.h"

namespace mummu {

class WeightLoad {
 public:
  // The plan's table, the device and the slots must outlive it.
  WeightLoad(const WeightPlan& plan, Ops& ops);

  // Loads the next tensor, and those after it while all of them together have at most `bytes`;
  // false when there was none left. Many at once keep many threads busier.
  //   errors   corrupt (a file that was truncated meanwhile, a value that cannot be quantised),
  //            no_memory, io
  Result<bool> step(int64_t bytes = 0);

  const LoadProgress& progress() const { return progress_; }
  int64_t packed_bytes() const { return packed_bytes_; }  // so far

 private:
  WeightSource source(const PlannedTensor& planned) const;
  Result<void> load_matrices(std::span<const PlannedTensor* const> matrices);
  // Rows [first, first + count) of a matrix as the file holds them, and quantised.
  Result<void> read_rows(const PlannedTensor& planned, int64_t first, int64_t count,
                         std::span<std::byte> out) const;
  Result<void> quantise_rows(const PlannedTensor& planned, int64_t first, int64_t count,
                             std::span<std::byte> out) const;
  Result<void> load_vector(const PlannedTensor& planned);

  const TensorTable& table_;
  Ops& ops_;
  std::vector<PlannedTensor> planned_;
  size_t next_ = 0;
  LoadProgress progress_;
  int64_t packed_bytes_ = 0;
};

// The floats of a tensor of F32, F16 or BF16, widened exactly.
Result<std::vector<float>> read_floats(const TensorTable& table, const TensorInfo& tensor);

}  // namespace mummu
