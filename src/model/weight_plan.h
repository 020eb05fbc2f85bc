#pragma once

// Which tensor of a checkpoint goes where. A family asks the plan for every tensor it needs; the
// plan checks name, shape and type at once and notes what is wrong; check() then says everything in
// one error, tensors that nobody asked for included. Nothing is read before load_weights walks the
// plan. The slots must stay where they are until then.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/ops.h"
#include "file/tensor_table.h"
#include "mummu/result.h"

namespace mummu {

enum class Format { safetensors, gguf };

// One tensor's name in both formats, without the ".weight" or ".bias" that both end in.
struct Name {
  std::string_view safetensors;
  std::string_view gguf;
};

// How the rows of a matrix lie in the file. GGUF files of `llama` hold the rows of each head of q
// and k with the two halves interleaved: (head, head_dim / 2, 2) instead of (head, 2, head_dim /
// 2).
//   source   gguf conversion of llama checkpoints (LlamaModel.permute), llama.cpp
struct RowOrder {
  int64_t interleaved_head_dim = 0;  // 0: as they are computed

  // Where row `row` of the computed order lies in the file.
  int64_t file_row(int64_t row) const;
};

// One tensor to load, or one expert's part of it: a matrix into a Weight, or numbers into a Tensor
// of f32 or to the host.
struct PlannedTensor {
  const TensorInfo* tensor = nullptr;
  Weight* matrix = nullptr;
  Tensor* vector = nullptr;
  std::vector<float>* host = nullptr;
  int64_t first_row = 0;  // of a matrix, in the file's tensor
  int64_t rows = 1, columns = 0;
  DType type = DType::f32;  // of a matrix, as it is packed: the file's, or what it is quantised to
  bool exact = false;       // of a matrix: never quantised
  bool transposed = false;  // the file's (columns, rows) numbers
  RowOrder order = {};
};

class WeightPlan {
 public:
  // `table` must outlive the plan. With `quantise` (q8_0 or q4_0) matrices of F32, F16 and BF16
  // whose columns are a multiple of 32 become that type; routers stay, as do vectors and
  // convolution kernels, which are no matrices here.
  WeightPlan(const TensorTable& table, Format format, const Ops& ops,
             std::optional<DType> quantise = {});

  Format format() const { return format_; }

  // Whether the checkpoint holds a network alone, as models of embeddings do: its safetensors names
  // lack the "model." that names of whole models begin with (at() leaves it out), and it has no
  // head.
  bool is_bare() const { return bare_; }

  // The prefix of everything that is asked for next: that of the network, or of one of its layers.
  void at(Name prefix);
  void at_layer(Name prefix, int64_t layer);  // "PREFIX.LAYER."

  // A matrix of NAME.weight.
  void matrix(Weight& slot, Name name, int64_t rows, int64_t columns, RowOrder order = {});
  // A matrix that stays as the file holds it: a choice among experts hangs on its last bits.
  void router(Weight& slot, Name name, int64_t experts, int64_t columns);
  // A vector, widened to f32, of NAME.weight or NAME.bias.
  void weight_vector(Tensor& slot, Name name, int64_t columns);
  void bias(Tensor& slot, Name name, int64_t columns, RowOrder order = {});

  // One matrix per expert: tensors BEFORE.N.AFTER.weight of safetensors, or one tensor of all.
  // `slots` stays empty where the checkpoint cannot have so many.
  void experts(std::vector<Weight>& slots, std::string_view before, Name after, int64_t count,
               int64_t rows, int64_t columns);
  // A convolution's taps of NAME.weight, (channels, 1, length) or (channels, length) in the file,
  // as (length, channels) f32.
  void kernel(Tensor& slot, Name name, int64_t channels, int64_t length);
  // A vector of NAME.weight that stays on the host.
  void host_vector(std::vector<float>& slot, Name name, int64_t columns);

  // Whether the checkpoint has NAME.weight.
  bool has(Name name) const;
  // The shape of NAME.weight; empty if there is none.
  std::vector<int64_t> shape(Name name) const;
  // NAME.weight may be there, and is not used.
  void ignore(Name name);
  // Every tensor whose name ends like this may be there, and is not used.
  void ignore_suffix(std::string_view suffix);
  // The same for names that begin like this.
  void ignore_prefix(std::string_view prefix);

  // Everything that is wrong, in one error.
  //   errors   corrupt (missing, misshapen, unknown tensors), unsupported (only types)
  Result<void> check() const;

  // What was asked for, in the order of the files.
  std::vector<PlannedTensor> in_file_order() const;

  const TensorTable& table() const { return table_; }
  int64_t file_bytes() const { return file_bytes_; }      // of what will be read
  int64_t packed_bytes() const { return packed_bytes_; }  // of what that makes on the device
  int64_t expert_bytes() const { return expert_bytes_; }  // of those, the experts'
  int64_t packed_bytes_of(const Weight& slot) const;      // 0: nothing goes there
  int64_t parameters() const { return parameters_; }
  // The types of the packed matrices, most bytes first: "Q4_1, Q8_0".
  std::string types() const;

 private:
  std::string full(Name name, std::string_view suffix) const;
  bool is_ignored(std::string_view name) const;
  const TensorInfo* claim(const std::string& name, std::span<const int64_t> shape);
  void plan_matrix(PlannedTensor planned);
  DType packed_type(const PlannedTensor& planned) const;
  void plan_vector(PlannedTensor planned, const std::string& name, std::span<const int64_t> shape);
  void note_type(const TensorInfo& tensor);

  const TensorTable& table_;
  Format format_;
  const Ops& ops_;
  bool bare_ = false;
  std::optional<DType> quantise_;
  std::string prefix_;
  std::vector<bool> claimed_;  // by index of the table
  std::vector<std::string> ignored_suffixes_, ignored_prefixes_;
  std::vector<std::string> missing_, misshapen_, types_;
  std::vector<PlannedTensor> planned_;
  int64_t expert_tensors_ = 0;  // asked for one by one
  int64_t file_bytes_ = 0, packed_bytes_ = 0, expert_bytes_ = 0, parameters_ = 0;
};

// The types whose matrices this build computes with.
bool can_compute(DType type);

}  // namespace mummu
