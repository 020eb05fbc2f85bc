// Matrices that are packed in one call, by any number of threads, are those that are packed alone.

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "device/machine.h"
#include "device/ops.h"

namespace mummu {
namespace {

// Rows whose every byte says where it stands.
WeightSource source_of(DType type, int64_t rows, int64_t columns) {
  const int64_t row = row_bytes(type, columns);
  const auto read = [row, rows](int64_t first, int64_t count, std::span<std::byte> out) {
    EXPECT_LE(first + count, rows);
    for (int64_t i = 0; i < count * row; ++i) {
      const uint64_t at = static_cast<uint64_t>(first * row + i + rows);
      out[static_cast<size_t>(i)] = static_cast<std::byte>(at * 0x9E3779B97F4A7C15U >> 56);
    }
    return Result<void>();
  };
  return {.type = type, .rows = rows, .columns = columns, .read = read};
}

// From less than a panel to several large pages; a panel of the last is as long as a page.
std::vector<WeightSource> sources() {
  return {
      source_of(DType::q4_1, 100, 96),     source_of(DType::q8_0, 1000, 1024),
      source_of(DType::f32, 3, 1000),      source_of(DType::q4_k, 2048, 2560),
      source_of(DType::f16, 1, 33),        source_of(DType::f32, 300, 1000),
      source_of(DType::q6_k, 300, 2560),   source_of(DType::f16, 0, 64),
      source_of(DType::bf16, 40, 1 << 16),
  };
}

Device open_with(Isa isa, int threads) {
  return open_device("cpu", {.parallel = Threads(threads), .isa = isa}).value();
}

void expect_same(const Weight& a, const Weight& b) {
  EXPECT_EQ(a.type(), b.type());
  EXPECT_EQ(a.columns(), b.columns());
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.bytes(), b.bytes());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())), 0)
      << name(a.type()) << " " << a.rows() << " x " << a.columns();
}

// Twice, because the second time begins within a page that holds weights.
void expect_those_packed_alone(Isa isa, int threads) {
  const Device alone = open_with(isa, 1), device = open_with(isa, threads);
  for (int round = 0; round < 2; ++round) {
    const auto weights = device.ops().pack_all(sources()).value();
    ASSERT_EQ(weights.size(), sources().size());
    for (size_t i = 0; i < weights.size(); ++i)
      expect_same(weights[i], alone.ops().pack(sources()[i]).value());
  }
}

TEST(Pack, many_at_once_are_those_packed_alone_on_any_number_of_threads) {
  expect_those_packed_alone(Isa::reference, 1);
  for (int threads : {1, 2, 8}) expect_those_packed_alone(best_isa(), threads);
}

TEST(Pack, nothing_is_no_weights) {
  EXPECT_TRUE(open_with(best_isa(), 2).ops().pack_all({}).value().empty());
}

TEST(Pack, an_error_of_one_source_is_that_of_all) {
  for (Isa isa : {Isa::reference, best_isa()}) {
    for (int threads : {1, 3}) {
      auto all = sources();
      all[5].read = [](int64_t first, int64_t, std::span<std::byte>) -> Result<void> {
        if (first >= 256) return Error{Error::corrupt, "the file ends here"};
        return {};
      };
      const auto weights = open_with(isa, threads).ops().pack_all(all);
      ASSERT_FALSE(weights);
      EXPECT_EQ(weights.error().message, "the file ends here");
    }
  }
}

}  // namespace
}  // namespace mummu
