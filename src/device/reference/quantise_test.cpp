#include "device/reference/quantise.h"

#include <gtest/gtest.h>

#include <limits>

#include "device/test/number.h"

namespace mummu::reference {
namespace {

struct Block32 {
  int8_t q[32];
  float scale = 0, sum = 0;
};

Block32 quantised(const std::vector<float>& x) {
  Block32 block;
  quantise(x.data(), 32, {block.q, &block.scale, &block.sum});
  return block;
}

TEST(Quantise, every_value_is_within_half_a_step) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::vector<float> x = test::Numbers(seed).values(32);
    const int shift = static_cast<int>(seed % 200) - 90;
    for (float& v : x) v = std::ldexp(v, shift);
    const Block32 block = quantised(x);
    double amax = 0;
    int total = 0, largest = 0;
    for (size_t i = 0; i < 32; ++i) {
      amax = std::max(amax, std::fabs(static_cast<double>(x[i])));
      total += block.q[i];
      largest = std::max(largest, std::abs(block.q[i]));
    }
    EXPECT_EQ(largest, 127);
    EXPECT_NEAR(block.scale, amax / 127, amax / 127 * 0x1p-24);
    EXPECT_EQ(block.sum, block.scale * static_cast<float>(total));
    for (size_t i = 0; i < 32; ++i) {
      // Half a step, and the roundings of the scale, of 127 / amax and of the product.
      const double error = std::fabs(static_cast<double>(block.scale) * block.q[i] - x[i]);
      EXPECT_LE(error, amax / 127 * 0.5 + amax * 4 * 0x1p-24);
    }
  }
}

TEST(Quantise, ties_go_to_even) {
  std::vector<float> x(32, 0.0F);
  x[0] = 127;
  x[1] = 0.5F;
  x[2] = 1.5F;
  x[3] = -2.5F;
  const Block32 block = quantised(x);
  EXPECT_EQ(block.q[1], 0);
  EXPECT_EQ(block.q[2], 2);
  EXPECT_EQ(block.q[3], -2);
}

TEST(Quantise, blocks_that_are_not_finite_or_too_small_have_no_values) {
  std::vector<float> x(32, 1.0F);
  x[7] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(quantised(x).scale));
  EXPECT_TRUE(std::isnan(quantised(x).sum));
  EXPECT_EQ(quantised(x).q[0], 0);
  x[7] = std::nanf("");
  EXPECT_TRUE(std::isnan(quantised(x).scale));
  const Block32 small = quantised(std::vector<float>(32, 0x1.fffffep-101F));
  EXPECT_EQ(std::bit_cast<uint32_t>(small.scale), 0U);
  EXPECT_EQ(std::bit_cast<uint32_t>(small.sum), 0U);
  EXPECT_EQ(small.q[0], 0);
  EXPECT_EQ(quantised(std::vector<float>(32, -0x1p-100F)).q[31], -127);
}

TEST(Quantise, the_largest_floats_do_not_overflow) {
  std::vector<float> x(32, std::numeric_limits<float>::max());
  for (size_t i = 1; i < 32; i += 2) x[i] = -x[0];
  const Block32 block = quantised(x);
  EXPECT_EQ(block.q[0], 127);
  EXPECT_EQ(block.q[1], -127);
  EXPECT_EQ(block.sum, 0.0F);
  EXPECT_TRUE(std::isfinite(block.scale));
}

}  // namespace
}  // namespace mummu::reference
