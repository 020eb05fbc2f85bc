// Quantising at load: the bytes against PyPI's gguf package (golden/weight_type, made by
// tool/make_golden.py types), and what a load makes of them.

#include "model/quantise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/test_fixture.h"
#include "file/gguf.h"
#include "model/load_weights.h"
#include "mummu/device.h"
#include "mummu/model.h"

namespace mummu {
namespace {

using test::golden;
using testing::HasSubstr;

template <typename T>
std::vector<T> read(const Gguf& file, std::string_view name) {
  const TensorInfo* tensor = file.table().find(name);
  EXPECT_NE(tensor, nullptr) << name;
  std::vector<T> out(static_cast<size_t>(tensor->size_bytes) / sizeof(T));
  EXPECT_TRUE(file.table().read(*tensor, 0, std::as_writable_bytes(std::span(out))));
  return out;
}

class Quantise : public testing::TestWithParam<DType> {
 protected:
  std::vector<std::byte> quantise(std::span<const float> values) {
    const auto columns = static_cast<int64_t>(values.size());
    std::vector<std::byte> out(static_cast<size_t>(row_bytes(GetParam(), columns)));
    good_ = quantise_row(GetParam(), values, out);
    return out;
  }

  bool good_ = false;
};

TEST_P(Quantise, bytes_are_those_of_the_gguf_package) {
  const auto file = Gguf::open(golden("weight_type/quantised.gguf")).value();
  const auto expected = read<std::byte>(file, GetParam() == DType::q8_0 ? "q8_0" : "q4_0");
  const auto got = quantise(read<float>(file, "f32"));
  EXPECT_TRUE(good_);
  ASSERT_EQ(got.size(), expected.size());
  const auto block = static_cast<size_t>(info(GetParam()).bytes);
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i], expected[i]) << "byte " << i % block << " of block " << i / block;
  }
}

TEST_P(Quantise, values_too_small_to_be_divided_become_zeros) {
  const auto zeros = quantise(std::vector<float>(32, 0.0F));
  std::vector<float> tiny(32, 0x1p-149F);
  tiny[3] = 0x1p-126F;
  EXPECT_EQ(quantise(tiny), zeros);
  EXPECT_TRUE(good_);
}

TEST_P(Quantise, values_that_are_not_finite_or_too_large_are_refused) {
  for (float bad : {INFINITY, -INFINITY, NAN, 0x1p+24F, -0x1p+24F}) {
    std::vector<float> values(64, 1.0F);
    values[40] = bad;
    quantise(values);
    EXPECT_FALSE(good_) << bad;
  }
}

INSTANTIATE_TEST_SUITE_P(Type, Quantise, testing::Values(DType::q8_0, DType::q4_0),
                         [](const testing::TestParamInfo<DType>& type) {
                           return std::string(name(type.param));
                         });

// A file of one matrix (2, 32) of f32, every value 1 but the last.
Result<int64_t> load_with_last(float last, DType quantise) {
  std::vector<float> values(64, 1.0F);
  values.back() = last;
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const auto size = static_cast<int64_t>(bytes.size());
  const TensorTable table =
      TensorTable::make(FileReader::from_bytes("a.gguf", std::move(bytes)), {{.name = "w.weight",
                                                                              .type = DType::f32,
                                                                              .type_name = "F32",
                                                                              .shape = {2, 32},
                                                                              .size_bytes = size}})
          .value();
  const auto device = open_device("cpu").value();
  WeightPlan plan(table, Format::gguf, device.ops(), quantise);
  Weight weight;
  plan.matrix(weight, {"", "w"}, 2, 32);
  WeightLoad load(plan, device.ops());
  MUMMU_TRY(load.step());
  EXPECT_EQ(weight.type(), quantise);
  return load.packed_bytes();
}

TEST(QuantisedLoad, a_value_that_cannot_be_quantised_is_named) {
  EXPECT_TRUE(load_with_last(3.0F, DType::q8_0));
  const auto refused = load_with_last(INFINITY, DType::q8_0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Error::corrupt);
  EXPECT_THAT(refused.error().message, HasSubstr("a.gguf: 'w.weight' row 1 has a value"));
  EXPECT_THAT(refused.error().message, HasSubstr("too large for Q8_0"));
}

TEST(QuantisedLoad, types_and_memory_are_told_before_and_after) {
  const std::string folder = golden("llama/llama3");
  const auto device = open_device("cpu").value();
  const LoadOptions options = {.quantize = Quantize::q4_0};
  const auto info = Model::inspect(folder, device, options).value();
  const auto plain = Model::inspect(folder, device).value();
  const auto model = Model::load(folder, device, options).value();
  EXPECT_EQ(info.weight_types, "Q4_0");
  EXPECT_EQ(info.weight_types, model.info().weight_types);
  EXPECT_EQ(info.packed_bytes, model.info().packed_bytes);
  EXPECT_LT(5 * info.packed_bytes, plain.packed_bytes);
  EXPECT_EQ(info.file_bytes, plain.file_bytes);
}

}  // namespace
}  // namespace mummu
