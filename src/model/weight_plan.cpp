#include "model/weight_plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/fail.h"
#include "file/quote.h"

namespace mummu {

namespace {

// Names that one message lists of each kind; a real checkpoint never comes near it.
constexpr size_t kMaxListed = 2000;

// What names of a whole model begin with, where those of a network alone do not.
constexpr std::string_view kWhole = "model.";

void add_list(std::string& out, std::string_view what, const std::vector<std::string>& names) {
  if (names.empty()) return;
  if (!out.empty()) out += "; ";
  const std::span listed(names.data(), std::min(names.size(), kMaxListed));
  out += fmt::format("{}: {}", what, fmt::join(listed, ", "));
  if (names.size() > listed.size())
    out += fmt::format(" and {} more", names.size() - listed.size());
}

bool is_float(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16;
}

// Names of tensors come from strangers: those that are not plain are quoted.
std::string shown(const std::string& name) {
  const bool plain =
      !name.empty() && name.size() <= 80 &&
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 127; });
  return plain ? name : quote(name);
}

}  // namespace

bool can_compute(DType type) { return is_float(type) || is_quantised(type); }

int64_t RowOrder::file_row(int64_t row) const {
  if (interleaved_head_dim == 0) return row;
  const int64_t half_dim = interleaved_head_dim / 2;
  const int64_t component = row % interleaved_head_dim;
  return row - component + component % half_dim * 2 + component / half_dim;
}

WeightPlan::WeightPlan(const TensorTable& table, Format format, const Ops& ops,
                       std::optional<DType> quantise)
    : table_(table),
      format_(format),
      ops_(ops),
      quantise_(quantise),
      claimed_(table.tensors().size(), false) {
  bare_ = format == Format::safetensors && table.find("embed_tokens.weight") != nullptr;
}

void WeightPlan::at(Name prefix) {
  prefix_ = format_ == Format::gguf ? prefix.gguf : prefix.safetensors;
  if (bare_ && prefix_.starts_with(kWhole)) prefix_.erase(0, kWhole.size());
}

void WeightPlan::at_layer(Name prefix, int64_t layer) {
  at(prefix);
  prefix_ += fmt::format(".{}.", layer);
}

std::string WeightPlan::full(Name name, std::string_view suffix) const {
  return fmt::format("{}{}{}", prefix_, format_ == Format::gguf ? name.gguf : name.safetensors,
                     suffix);
}

bool WeightPlan::has(Name name) const { return table_.find(full(name, ".weight")) != nullptr; }

std::vector<int64_t> WeightPlan::shape(Name name) const {
  const TensorInfo* tensor = table_.find(full(name, ".weight"));
  return tensor ? tensor->shape : std::vector<int64_t>();
}

void WeightPlan::ignore(Name name) {
  if (const TensorInfo* tensor = table_.find(full(name, ".weight")))
    claimed_[static_cast<size_t>(tensor - table_.tensors().data())] = true;
}

void WeightPlan::ignore_suffix(std::string_view suffix) { ignored_suffixes_.emplace_back(suffix); }
void WeightPlan::ignore_prefix(std::string_view prefix) { ignored_prefixes_.emplace_back(prefix); }

bool WeightPlan::is_ignored(std::string_view name) const {
  return std::any_of(ignored_suffixes_.begin(), ignored_suffixes_.end(),
                     [&](const std::string& suffix) { return name.ends_with(suffix); }) ||
         std::any_of(ignored_prefixes_.begin(), ignored_prefixes_.end(),
                     [&](const std::string& prefix) { return name.starts_with(prefix); });
}

const TensorInfo* WeightPlan::claim(const std::string& name, std::span<const int64_t> shape) {
  const TensorInfo* tensor = table_.find(name);
  if (!tensor) {
    missing_.push_back(name);
    return nullptr;
  }
  claimed_[static_cast<size_t>(tensor - table_.tensors().data())] = true;
  if (!std::equal(shape.begin(), shape.end(), tensor->shape.begin(), tensor->shape.end())) {
    misshapen_.push_back(fmt::format("{} is {}, expected {}", name, shape_text(tensor->shape),
                                     shape_text({shape.begin(), shape.end()})));
    return nullptr;
  }
  file_bytes_ += tensor->size_bytes;
  parameters_ += tensor->elements();
  return tensor;
}

void WeightPlan::note_type(const TensorInfo& tensor) {
  std::string note = fmt::format("{} is {}", shown(tensor.name), tensor.type_name);
  // The parts of one tensor say it once.
  if (types_.empty() || types_.back() != note) types_.push_back(std::move(note));
}

void WeightPlan::plan_matrix(PlannedTensor planned) {
  const TensorInfo& tensor = *planned.tensor;
  if (!tensor.type || !can_compute(*tensor.type)) return note_type(tensor);
  planned.type = packed_type(planned);
  packed_bytes_ += ops_.packed_bytes(planned.type, planned.rows, planned.columns);
  planned_.push_back(planned);
}

int64_t WeightPlan::packed_bytes_of(const Weight& slot) const {
  int64_t bytes = 0;
  for (const PlannedTensor& planned : planned_)
    if (planned.matrix == &slot)
      bytes += ops_.packed_bytes(planned.type, planned.rows, planned.columns);
  return bytes;
}

DType WeightPlan::packed_type(const PlannedTensor& planned) const {
  const DType stored = *planned.tensor->type;
  const bool fits = quantise_ && planned.columns % info(*quantise_).elements == 0;
  return fits && is_float(stored) && !planned.exact ? *quantise_ : stored;
}

void WeightPlan::matrix(Weight& slot, Name name, int64_t rows, int64_t columns, RowOrder order) {
  const TensorInfo* tensor = claim(full(name, ".weight"), std::array{rows, columns});
  if (tensor)
    plan_matrix(
        {.tensor = tensor, .matrix = &slot, .rows = rows, .columns = columns, .order = order});
}

void WeightPlan::router(Weight& slot, Name name, int64_t experts, int64_t columns) {
  const TensorInfo* tensor = claim(full(name, ".weight"), std::array{experts, columns});
  if (tensor)
    plan_matrix(
        {.tensor = tensor, .matrix = &slot, .rows = experts, .columns = columns, .exact = true});
}

void WeightPlan::experts(std::vector<Weight>& slots, std::string_view before, Name after,
                         int64_t count, int64_t rows, int64_t columns) {
  const int64_t others = packed_bytes_;
  if (format_ == Format::safetensors) {
    expert_tensors_ += count;
    // A configuration may claim any number of them; only what can be there takes memory.
    if (expert_tensors_ > static_cast<int64_t>(table_.tensors().size())) {
      missing_.push_back(
          fmt::format("{}{}.0 to {}.{}.weight", prefix_, before, count - 1, after.safetensors));
      return;
    }
    slots = std::vector<Weight>(static_cast<size_t>(count));
    for (size_t e = 0; e < slots.size(); ++e) {
      const std::string name = fmt::format("{}.{}.{}", before, e, after.safetensors);
      matrix(slots[e], {name, {}}, rows, columns);
    }
  } else {
    const TensorInfo* tensor = claim(full(after, ".weight"), std::array{count, rows, columns});
    if (tensor) slots = std::vector<Weight>(static_cast<size_t>(count));
    for (int64_t e = 0; tensor && e < count; ++e)
      plan_matrix({.tensor = tensor,
                   .matrix = &slots[static_cast<size_t>(e)],
                   .first_row = e * rows,
                   .rows = rows,
                   .columns = columns});
  }
  expert_bytes_ += packed_bytes_ - others;
}

void WeightPlan::plan_vector(PlannedTensor planned, const std::string& name,
                             std::span<const int64_t> shape) {
  planned.tensor = claim(name, shape);
  if (!planned.tensor) return;
  if (!planned.tensor->type || !is_float(*planned.tensor->type)) return note_type(*planned.tensor);
  if (planned.vector) packed_bytes_ += planned.rows * row_bytes(DType::f32, planned.columns);
  planned_.push_back(planned);
}

void WeightPlan::weight_vector(Tensor& slot, Name name, int64_t columns) {
  plan_vector({.vector = &slot, .columns = columns}, full(name, ".weight"), {&columns, 1});
}

void WeightPlan::bias(Tensor& slot, Name name, int64_t columns, RowOrder order) {
  plan_vector({.vector = &slot, .columns = columns, .order = order}, full(name, ".bias"),
              {&columns, 1});
}

void WeightPlan::kernel(Tensor& slot, Name name, int64_t channels, int64_t length) {
  const std::vector<int64_t> stored = shape(name);
  const std::array with_one{channels, int64_t{1}, length};
  const std::array without{channels, length};
  const bool has_one = stored.size() == with_one.size();
  plan_vector({.vector = &slot, .rows = length, .columns = channels, .transposed = true},
              full(name, ".weight"),
              has_one ? std::span<const int64_t>(with_one) : std::span<const int64_t>(without));
}

void WeightPlan::host_vector(std::vector<float>& slot, Name name, int64_t columns) {
  plan_vector({.host = &slot, .columns = columns}, full(name, ".weight"), {&columns, 1});
}

Result<void> WeightPlan::check() const {
  std::vector<std::string> unknown;
  for (size_t i = 0; i < claimed_.size(); ++i) {
    const std::string& name = table_.tensors()[i].name;
    if (!claimed_[i] && !is_ignored(name)) unknown.push_back(shown(name));
  }
  std::string wrong;
  add_list(wrong, "missing tensors", missing_);
  add_list(wrong, "tensors of the wrong shape", misshapen_);
  add_list(wrong, "tensors this architecture does not have", unknown);
  const auto code = wrong.empty() ? Error::unsupported : Error::corrupt;
  add_list(wrong, "tensors of a type that is not supported", types_);
  if (wrong.empty()) return {};
  const std::string path = table_.files().empty() ? "" : table_.files().front().path();
  return fail(code, "{}: {}", path, wrong);
}

std::vector<PlannedTensor> WeightPlan::in_file_order() const {
  std::vector<PlannedTensor> out = planned_;
  std::sort(out.begin(), out.end(), [](const PlannedTensor& a, const PlannedTensor& b) {
    if (a.tensor->file_index != b.tensor->file_index)
      return a.tensor->file_index < b.tensor->file_index;
    if (a.tensor->offset_bytes != b.tensor->offset_bytes)
      return a.tensor->offset_bytes < b.tensor->offset_bytes;
    return a.tensor->name < b.tensor->name;
  });
  return out;
}

std::string WeightPlan::types() const {
  std::map<std::string_view, int64_t> bytes;
  for (const PlannedTensor& planned : planned_)
    if (planned.matrix)
      bytes[name(planned.type)] += planned.rows * row_bytes(planned.type, planned.columns);
  std::vector<std::pair<int64_t, std::string_view>> order;
  for (const auto& [type, size] : bytes) order.emplace_back(-size, type);
  std::sort(order.begin(), order.end());
  std::vector<std::string_view> names;
  for (const auto& [size, type] : order) names.push_back(type);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace mummu
