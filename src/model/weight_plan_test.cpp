#include "model/weight_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "model/load_weights.h"
#include "mummu/device.h"

namespace mummu {
namespace {

using testing::HasSubstr;
using testing::Not;

TensorInfo tensor(std::string name, std::vector<int64_t> shape,
                  std::optional<DType> type = DType::f32, std::string_view type_name = "F32") {
  return {.name = std::move(name), .type = type, .type_name = type_name, .shape = std::move(shape)};
}

class WeightPlanTest : public testing::Test {
 protected:
  WeightPlan plan(std::vector<TensorInfo> tensors, Format format = Format::gguf,
                  std::optional<DType> quantise = {}) {
    table_ = TensorTable::make(FileReader::from_bytes("a.gguf", {}), std::move(tensors)).value();
    return WeightPlan(table_, format, device_.ops(), quantise);
  }

  Device device_ = open_device("cpu").value();
  TensorTable table_;
  Weight matrix_;
  Tensor vector_;
};

TEST_F(WeightPlanTest, one_error_lists_everything_that_is_wrong) {
  WeightPlan checked =
      plan({tensor("a.weight", {3, 4}), tensor("b.weight", {9}), tensor("stranger.weight", {2}),
            tensor("c.weight", {4, 256}, std::nullopt, "Q2_K")});
  checked.matrix(matrix_, {"", "a"}, 4, 3);
  checked.weight_vector(vector_, {"", "b"}, 9);
  checked.matrix(matrix_, {"", "c"}, 4, 256);
  checked.matrix(matrix_, {"", "absent"}, 1, 1);
  checked.bias(vector_, {"", "b"}, 9);
  const auto result = checked.check();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Error::corrupt);
  EXPECT_THAT(result.error().message, HasSubstr("a.gguf: missing tensors: absent.weight, b.bias"));
  EXPECT_THAT(result.error().message, HasSubstr("a.weight is (3, 4), expected (4, 3)"));
  EXPECT_THAT(result.error().message, HasSubstr("does not have: stranger.weight"));
  EXPECT_THAT(result.error().message, HasSubstr("c.weight is Q2_K"));
  EXPECT_THAT(result.error().message, Not(HasSubstr("\n")));
}

TEST_F(WeightPlanTest, a_type_alone_is_unsupported_and_named) {
  WeightPlan checked = plan({tensor("c.weight", {4, 256}, std::nullopt, "IQ2_XS")});
  checked.matrix(matrix_, {"", "c"}, 4, 256);
  const auto result = checked.check();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Error::unsupported);
  EXPECT_THAT(result.error().message, HasSubstr("c.weight is IQ2_XS"));
}

TEST_F(WeightPlanTest, quantising_takes_float_matrices_whose_rows_are_whole_blocks) {
  for (DType to : {DType::q8_0, DType::q4_0}) {
    WeightPlan quantised = plan(
        {tensor("f32.weight", {4, 64}), tensor("f16.weight", {4, 32}, DType::f16, "F16"),
         tensor("bf16.weight", {4, 96}, DType::bf16, "BF16"), tensor("experts.weight", {2, 4, 32}),
         tensor("narrow.weight", {4, 48}), tensor("router.weight", {4, 64}),
         tensor("q6_k.weight", {4, 256}, DType::q6_k, "Q6_K"), tensor("norm.weight", {64}),
         tensor("kernel.weight", {32, 64})},
        Format::gguf, to);
    quantised.matrix(matrix_, {"", "f32"}, 4, 64);
    quantised.matrix(matrix_, {"", "f16"}, 4, 32);
    quantised.matrix(matrix_, {"", "bf16"}, 4, 96);
    std::vector<Weight> experts;
    quantised.experts(experts, "", {"", "experts"}, 2, 4, 32);
    quantised.matrix(matrix_, {"", "narrow"}, 4, 48);
    quantised.router(matrix_, {"", "router"}, 4, 64);
    quantised.matrix(matrix_, {"", "q6_k"}, 4, 256);
    quantised.weight_vector(vector_, {"", "norm"}, 64);
    quantised.kernel(vector_, {"", "kernel"}, 32, 64);
    ASSERT_TRUE(quantised.check());
    int64_t packed = 0;
    for (const PlannedTensor& planned : quantised.in_file_order()) {
      const std::string& name = planned.tensor->name;
      if (!planned.matrix) {
        packed += planned.rows * planned.columns * 4;
        continue;
      }
      packed += device_.ops().packed_bytes(planned.type, planned.rows, planned.columns);
      const bool stays =
          name == "narrow.weight" || name == "router.weight" || name == "q6_k.weight";
      EXPECT_EQ(planned.type, stays ? *planned.tensor->type : to) << name;
    }
    EXPECT_EQ(quantised.packed_bytes(), packed);
    EXPECT_EQ(quantised.packed_bytes_of(experts[1]), device_.ops().packed_bytes(to, 4, 32));
    EXPECT_EQ(quantised.expert_bytes(), 2 * quantised.packed_bytes_of(experts[1]));
  }
}

TEST_F(WeightPlanTest, ignored_tensors_may_be_there) {
  WeightPlan checked = plan({tensor("a.inv_freq", {3}), tensor("b.weight", {9})});
  checked.ignore({"", "b"});
  checked.ignore({"", "absent"});
  checked.ignore_suffix(".inv_freq");
  EXPECT_TRUE(checked.check());
}

TEST_F(WeightPlanTest, a_name_of_a_stranger_is_quoted) {
  WeightPlan checked = plan({tensor("line\nbreak", {3})});
  const auto result = checked.check();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, Not(HasSubstr("\n")));
}

TEST_F(WeightPlanTest, tensors_are_read_in_the_order_of_the_file) {
  auto late = tensor("late.weight", {2, 2});
  auto early = tensor("early.weight", {2, 2});
  late.offset_bytes = 64;
  WeightPlan checked = plan({late, early});
  checked.matrix(matrix_, {"", "late"}, 2, 2);
  checked.matrix(matrix_, {"", "early"}, 2, 2);
  const auto order = checked.in_file_order();
  ASSERT_EQ(order.size(), 2U);
  EXPECT_EQ(order[0].tensor->name, "early.weight");
  EXPECT_EQ(checked.types(), "F32");
  EXPECT_EQ(checked.parameters(), 8);
}

TEST_F(WeightPlanTest, experts_are_taken_by_number_not_by_the_order_of_their_names) {
  std::vector<TensorInfo> tensors;
  for (const char* e : {"0", "1", "10", "11", "2", "3", "4", "5", "6", "7", "8", "9"}) {
    tensors.push_back(tensor(std::string("mlp.experts.") + e + ".up_proj.weight", {2, 2}));
    tensors.back().offset_bytes = std::atoi(e);
  }
  WeightPlan checked = plan(tensors, Format::safetensors);
  std::vector<Weight> slots;
  checked.experts(slots, "mlp.experts", {"up_proj", ""}, 12, 2, 2);
  ASSERT_TRUE(checked.check());
  const auto order = checked.in_file_order();  // by offset: the number in the name
  ASSERT_EQ(order.size(), 12U);
  for (size_t e = 0; e < 12; ++e) EXPECT_EQ(order[e].matrix, &slots[e]);
}

TEST_F(WeightPlanTest, experts_that_cannot_be_there_take_no_memory) {
  WeightPlan checked = plan({tensor("a.weight", {3, 4})}, Format::safetensors);
  std::vector<Weight> slots;
  checked.experts(slots, "mlp.experts", {"up_proj", ""}, 16384, 4, 4);
  EXPECT_TRUE(slots.empty());
  EXPECT_THAT(checked.check().error().message, HasSubstr("mlp.experts.0 to 16383.up_proj.weight"));
  WeightPlan one_tensor = plan({tensor("up_exps.weight", {8, 4, 4})});
  one_tensor.experts(slots, "mlp.experts", {"", "up_exps"}, 16384, 4, 4);
  EXPECT_TRUE(slots.empty());
  EXPECT_THAT(one_tensor.check().error().message,
              HasSubstr("up_exps.weight is (8, 4, 4), expected (16384, 4, 4)"));
}

TEST_F(WeightPlanTest, a_type_of_many_experts_is_said_once) {
  WeightPlan checked = plan({tensor("up_exps.weight", {8, 4, 256}, std::nullopt, "Q2_K")});
  std::vector<Weight> slots;
  checked.experts(slots, "mlp.experts", {"", "up_exps"}, 8, 4, 256);
  EXPECT_THAT(checked.check().error().message,
              testing::EndsWith("not supported: up_exps.weight is Q2_K"));
}

TEST_F(WeightPlanTest, a_kernel_with_and_without_the_middle_one_is_the_same) {
  const std::array<float, 6> taps = {1, 2, 3, 4, 5, 6};  // two channels of three
  const auto* bytes = reinterpret_cast<const std::byte*>(taps.data());
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{2, 1, 3}, {2, 3}}) {
    auto stored = tensor("conv.weight", shape);
    stored.size_bytes = sizeof taps;
    table_ = TensorTable::make(FileReader::from_bytes("a", {bytes, bytes + sizeof taps}), {stored})
                 .value();
    WeightPlan checked(table_, Format::gguf, device_.ops());
    checked.kernel(vector_, {"", "conv"}, 2, 3);
    ASSERT_TRUE(checked.check());
    WeightLoad load(checked, device_.ops());
    ASSERT_TRUE(load.step());
    const auto* loaded = vector_.view().as<float>();
    EXPECT_THAT(std::vector<float>(loaded, loaded + 6), testing::ElementsAre(1, 4, 2, 5, 3, 6));
  }
}

TEST(RowOrderTest, interleaved_halves_are_put_apart) {
  // Two heads of four components, in the file 0 2 1 3 of each.
  const RowOrder order{4};
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < 8; ++row) rows.push_back(order.file_row(row));
  EXPECT_THAT(rows, testing::ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
  EXPECT_EQ(RowOrder{}.file_row(5), 5);
}

}  // namespace
}  // namespace mummu
