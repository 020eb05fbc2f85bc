#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/checked.h"
#include "base/fail.h"
#include "device/reference/reference_ops.h"

namespace mummu::reference {
namespace {

constexpr int64_t kAlignment = 64;

// Zero-filled memory of the host. calloc, because untouched pages then cost nothing.
class HostMemory final : public Memory {
 public:
  explicit HostMemory(void* base) : base_(base) {}
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory() override { std::free(base_); }

  void* data() override {
    const auto address = reinterpret_cast<uintptr_t>(base_);
    return reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment);
  }

 private:
  void* base_;
};

Result<std::unique_ptr<Memory>> allocate(DType type, int64_t rows, int64_t columns) {
  const auto elements = checked_mul(columns, info(type).bytes);
  const auto bytes = elements ? checked_mul(rows, *elements / info(type).elements) : elements;
  const auto padded = bytes ? checked_add(*bytes, kAlignment) : bytes;
  void* base = padded && *padded > 0 ? std::calloc(static_cast<size_t>(*padded), 1) : nullptr;
  if (base == nullptr) {
    return fail(Error::no_memory, "no memory for {} x {} elements of {}", rows, columns,
                name(type));
  }
  return std::unique_ptr<Memory>(std::make_unique<HostMemory>(base));
}

bool can_compute(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16 || is_quantised(type);
}

}  // namespace

Result<Tensor> ReferenceOps::make(DType type, int64_t rows, int64_t columns) {
  MUMMU_TRY(auto memory, allocate(type, rows, columns));
  return Tensor(std::move(memory), type, rows, columns);
}

void ReferenceOps::upload(const void* host, View view) {
  std::copy_n(static_cast<const std::byte*>(host), view.bytes(), view.as<std::byte>());
}

void ReferenceOps::download(View view, void* host) {
  std::copy_n(view.as<const std::byte>(), view.bytes(), static_cast<std::byte*>(host));
}

int64_t ReferenceOps::packed_bytes(DType type, int64_t rows, int64_t columns) const {
  return rows * row_bytes(type, columns);
}

namespace {

Result<Weight> read_weight(const WeightSource& source) {
  if (!can_compute(source.type)) {
    return fail(Error::unsupported, "weights of type {} are not supported", name(source.type));
  }
  if (source.columns % info(source.type).elements != 0) {
    return fail(Error::unsupported, "{} weights need rows of a multiple of {} elements, got {}",
                name(source.type), info(source.type).elements, source.columns);
  }
  MUMMU_TRY(auto memory, allocate(source.type, source.rows, source.columns));
  auto* bytes = static_cast<std::byte*>(memory->data());
  const int64_t row = row_bytes(source.type, source.columns);
  const int64_t rows_at_once = std::max<int64_t>(1, (int64_t{1} << 20) / std::max<int64_t>(1, row));
  for (int64_t first = 0; first < source.rows; first += rows_at_once) {
    const int64_t count = std::min(rows_at_once, source.rows - first);
    MUMMU_TRY(source.read(first, count,
                          std::span(bytes + first * row, static_cast<size_t>(count * row))));
  }
  return Weight(std::move(memory), source.type, source.rows, source.columns, source.rows * row);
}

}  // namespace

Result<std::vector<Weight>> ReferenceOps::pack_all(std::span<const WeightSource> sources) {
  std::vector<Weight> weights;
  for (const WeightSource& source : sources) {
    MUMMU_TRY(weights.emplace_back(), read_weight(source));
  }
  return weights;
}

Result<void> ReferenceOps::reserve(int64_t tokens, int64_t columns) {
  const View held = quantised_.view();
  const int64_t rows = std::max(tokens, held.rows);
  const int64_t width = std::max(columns, held.columns);
  if (rows == held.rows && width == held.columns) return {};
  MUMMU_TRY(auto quantised, make(DType::u8, rows, width));
  MUMMU_TRY(auto scale, make(DType::f32, rows, width / kBlock));
  MUMMU_TRY(auto sum, make(DType::f32, rows, width / kBlock));
  quantised_ = std::move(quantised);
  scale_ = std::move(scale);
  sum_ = std::move(sum);
  return {};
}

}  // namespace mummu::reference
