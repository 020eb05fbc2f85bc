// A tiny llama whose matrices are of Q4_K, Q5_K, Q6_K, Q5_0, Q5_1 and Q8_0 (golden/llama/mixed,
// made by tool/make_golden.py types) against transformers in f32 on the dequantised values.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/test_fixture.h"
#include "device/machine.h"
#include "model/test_decoder.h"

namespace mummu {
namespace {

using test::golden;
using test::load_decoder;
using test::read_all;
using test::Sequence;

// Of the largest logit. What remains is the rounding of activations to 8 bits: half of 1/127 of a
// block's largest in every product, averaging out over a row of 256, through 15 matrices.
constexpr double kBound = 0.02;
constexpr size_t kLength = 300;

class Mixed : public testing::TestWithParam<Isa> {};

std::vector<float> logits(Isa isa) {
  const auto device = open_device("cpu", {.parallel = Threads(2), .isa = isa}).value();
  const auto loaded = load_decoder(golden("llama/mixed/model.gguf"), device).value();
  const auto file = Safetensors::open(golden("llama/mixed/expected.safetensors")).value();
  const auto ids = read_all<int32_t>(file, "ids");
  Sequence sequence(loaded, kLength, DType::f32);
  sequence.feed(std::span(ids).first(kLength - 1));
  sequence.feed(std::span(ids).subspan(kLength - 1, 1));
  return sequence.logits;
}

TEST_P(Mixed, logits_are_those_of_the_dequantised_weights_within_the_bound) {
  if (!cpu_has(GetParam())) GTEST_SKIP() << "skipped: this CPU lacks the instruction set";
  const auto file = Safetensors::open(golden("llama/mixed/expected.safetensors")).value();
  const auto rows = read_all<int32_t>(file, "rows");
  const auto expected = read_all<float>(file, "logits");
  const auto got = logits(GetParam());
  const size_t vocab = expected.size() / rows.size();
  double worst = 0, largest = 0;
  for (size_t r = 0; r < rows.size() && static_cast<size_t>(rows[r]) < kLength; ++r) {
    for (size_t i = 0; i < vocab; ++i) {
      const double want = expected[r * vocab + i];
      worst = std::max(worst, std::abs(got[static_cast<size_t>(rows[r]) * vocab + i] - want));
      largest = std::max(largest, std::abs(want));
    }
  }
  std::printf("largest difference %.2g of %.3g\n", worst, largest);
  EXPECT_LE(worst, kBound * largest);
}

TEST_P(Mixed, logits_are_equal_on_every_instruction_set) {
  if (!cpu_has(GetParam())) GTEST_SKIP() << "skipped: this CPU lacks the instruction set";
  const auto expected = logits(Isa::reference);
  const auto got = logits(GetParam());
  ASSERT_EQ(got.size(), expected.size());
  EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)), 0);
}

INSTANTIATE_TEST_SUITE_P(Isa, Mixed, testing::Values(Isa::avx2, Isa::avx512),
                         [](const testing::TestParamInfo<Isa>& isa) {
                           return isa.param == Isa::avx512 ? "avx512" : "avx2";
                         });

}  // namespace
}  // namespace mummu
