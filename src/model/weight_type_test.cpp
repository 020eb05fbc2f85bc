// Weight types against PyPI's gguf package (golden/weight_type, made by tool/make_golden.py types):
// what a device widens blocks to.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "base/test_fixture.h"
#include "device/machine.h"
#include "device/ops.h"
#include "file/gguf.h"
#include "mummu/device.h"

namespace mummu {
namespace {

using test::golden;

std::vector<std::byte> read_bytes(const Gguf& file, std::string_view name) {
  const TensorInfo* tensor = file.table().find(name);
  EXPECT_NE(tensor, nullptr) << name;
  std::vector<std::byte> bytes(static_cast<size_t>(tensor->size_bytes));
  EXPECT_TRUE(file.table().read(*tensor, 0, bytes));
  return bytes;
}

std::vector<float> read_floats(const Gguf& file, std::string_view name) {
  const auto bytes = read_bytes(file, name);
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), bytes.size());
  return floats;
}

class WeightType : public testing::TestWithParam<Isa> {};

// All rows of a matrix, widened by the device.
std::vector<float> widened(const Gguf& file, std::string_view name, Isa isa) {
  auto device = open_device("cpu", {.parallel = serial(), .isa = isa}).value();
  Ops& ops = device.ops();
  const TensorInfo& tensor = *file.table().find(name);
  const int64_t rows = tensor.shape[0], columns = tensor.shape[1];
  const int64_t row = row_bytes(*tensor.type, columns);
  const Weight table = ops.pack({*tensor.type, rows, columns,
                                 [&](int64_t first, int64_t, std::span<std::byte> out) {
                                   return file.table().read(tensor, first * row, out);
                                 }})
                           .value();
  const Tensor ids = ops.make(DType::i32, 1, rows).value();
  const Tensor out = ops.make(DType::f32, rows, columns).value();
  std::vector<int32_t> all(static_cast<size_t>(rows));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
  ops.upload(all.data(), ids.view());
  ops.start();
  ops.embedding(table, ids.view(), out.view());
  EXPECT_TRUE(ops.finish());
  std::vector<float> values(static_cast<size_t>(rows * columns));
  ops.download(out.view(), values.data());
  return values;
}

TEST_P(WeightType, values_are_those_of_the_gguf_package_to_the_bit) {
  if (!cpu_has(GetParam())) GTEST_SKIP() << "skipped: this CPU lacks the instruction set";
  const auto file = Gguf::open(golden("weight_type/blocks.gguf")).value();
  for (const char* name :
       {"f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q4_k", "q5_k", "q6_k"}) {
    const auto expected = read_floats(file, std::string(name) + ".f32");
    const auto got = widened(file, name, GetParam());
    ASSERT_EQ(got.size(), expected.size());
    size_t numbers = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(expected[i])) {
        ASSERT_TRUE(std::isnan(got[i])) << name << " element " << i;
        continue;
      }
      ++numbers;
      ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(expected[i]))
          << name << " element " << i << ": " << got[i] << ", not " << expected[i];
    }
    EXPECT_GT(2 * numbers, got.size()) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, WeightType, testing::Values(Isa::reference, Isa::avx2, Isa::avx512),
                         [](const testing::TestParamInfo<Isa>& isa) {
                           return isa.param == Isa::avx512 ? "avx512"
                                  : isa.param == Isa::avx2 ? "avx2"
                                                           : "reference";
                         });

}  // namespace
}  // namespace mummu
