#pragma once

// Where a test puts one device to work: tensors from vectors, weights from bytes, steps that may
// run in a hostile floating-point mode of the host, results as vectors.

#include <gtest/gtest.h>

#include <cfenv>
#include <deque>
#include <span>
#include <vector>

#include "device/ops.h"
#include "device/test/number.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace mummu::test {

// What a host may have done to its thread before it calls us.
enum class HostMode { usual, flushing_rounding_down };

class HostModeGuard {
 public:
  explicit HostModeGuard(HostMode mode) {
    std::fegetenv(&saved_);
    if (mode == HostMode::usual) return;
    std::fesetround(FE_DOWNWARD);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, denormals are zero
#endif
  }
  ~HostModeGuard() { std::fesetenv(&saved_); }
  HostModeGuard(const HostModeGuard&) = delete;
  HostModeGuard& operator=(const HostModeGuard&) = delete;

 private:
  std::fenv_t saved_;
};

class Bed {
 public:
  explicit Bed(Ops& ops, HostMode mode = HostMode::usual) : ops_(ops), mode_(mode) {}

  Ops& ops() { return ops_; }

  View floats(int64_t rows, int64_t columns, const std::vector<float>& values) {
    EXPECT_EQ(rows * columns, static_cast<int64_t>(values.size()));
    return filled(DType::f32, rows, columns, values.data());
  }
  View ints(const std::vector<int32_t>& values) {
    return filled(DType::i32, 1, static_cast<int64_t>(values.size()), values.data());
  }
  View bytes(int64_t rows, int64_t columns, const std::vector<std::byte>& values) {
    return filled(DType::u8, rows, columns, values.data());
  }
  // Values that show when an op leaves an element out.
  View blank(int64_t rows, int64_t columns) {
    return floats(rows, columns, std::vector<float>(static_cast<size_t>(rows * columns), 123.5F));
  }

  const Weight& weight(DType type, int64_t rows, int64_t columns,
                       const std::vector<std::byte>& bytes) {
    const auto row = static_cast<size_t>(row_bytes(type, columns));
    const WeightSource source{
        type, rows, columns,
        [&](int64_t first, int64_t count, std::span<std::byte> out) -> Result<void> {
          EXPECT_EQ(out.size(), static_cast<size_t>(count) * row);
          std::memcpy(out.data(), bytes.data() + static_cast<size_t>(first) * row, out.size());
          return {};
        }};
    auto packed = ops_.pack(source);
    EXPECT_TRUE(packed) << packed.error().message;
    return weights_.emplace_back(*std::move(packed));
  }
  const Weight& weight(DType type, int64_t rows, int64_t columns, uint64_t seed,
                       Kind kind = Kind::ordinary) {
    return weight(type, rows, columns, weight_bytes(type, rows, columns, seed, kind));
  }

  void reserve(int64_t tokens, int64_t columns) { EXPECT_TRUE(ops_.reserve(tokens, columns)); }

  // One step, in the host's mode.
  template <typename Work>
  void step(Work&& work) {
    Result<void> finished;
    {
      const HostModeGuard mode(mode_);
      ops_.start();
      work();
      finished = ops_.finish();
    }
    EXPECT_TRUE(finished) << finished.error().message;
  }

  std::vector<float> read(View view) {
    std::vector<float> values(static_cast<size_t>(view.rows * view.columns));
    ops_.download(view, values.data());
    return values;
  }
  std::vector<std::byte> read_bytes(View view) {
    std::vector<std::byte> values(static_cast<size_t>(view.bytes()));
    ops_.download(view, values.data());
    return values;
  }

 private:
  View filled(DType type, int64_t rows, int64_t columns, const void* values) {
    auto tensor = ops_.make(type, rows, columns);
    EXPECT_TRUE(tensor) << tensor.error().message;
    const View view = tensors_.emplace_back(*std::move(tensor)).view();
    if (rows * columns > 0) ops_.upload(values, view);
    return view;
  }

  Ops& ops_;
  HostMode mode_;
  std::deque<Tensor> tensors_;
  std::deque<Weight> weights_;
};

}  // namespace mummu::test
