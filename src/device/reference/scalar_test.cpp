// exp, silu and the sum in lanes against f64.

#include "device/reference/scalar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/test/number.h"

namespace mummu::reference {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The distance of two neighbouring floats around a value.
double ulp(double value) {
  return std::fabs(value) < 0x1p-126 ? 0x1p-149 : std::ldexp(1.0, std::ilogb(value) - 23);
}

// Calls check(x) for floats of both signs all over the range: every 101st in [2^-30, limit].
template <typename Check>
void sweep(float limit, Check&& check) {
  const uint32_t last = std::bit_cast<uint32_t>(limit);
  for (uint32_t bits = std::bit_cast<uint32_t>(0x1p-30F); bits <= last; bits += 101) {
    check(std::bit_cast<float>(bits));
    check(-std::bit_cast<float>(bits));
  }
}

TEST(Exp, is_within_nine_tenths_of_an_ulp) {
  double worst = 0;
  sweep(104.0F, [&](float x) {
    const double exact = std::exp(static_cast<double>(x));
    if (exact > std::numeric_limits<float>::max()) return;
    worst = std::max(worst, std::fabs(static_cast<double>(exp(x)) - exact) / ulp(exact));
  });
  EXPECT_LE(worst, 0.9);
  EXPECT_GE(worst, 0.8) << "the bound in device/exp.h could be tighter";
}

TEST(Exp, ends_in_zero_and_infinity_and_keeps_nan) {
  EXPECT_EQ(exp(0.0F), 1.0F);
  EXPECT_EQ(exp(-0.0F), 1.0F);
  EXPECT_EQ(exp(kInfinity), kInfinity);
  EXPECT_EQ(exp(89.0F), kInfinity);
  EXPECT_EQ(exp(88.73F), kInfinity);
  EXPECT_LT(exp(88.722F), kInfinity);
  EXPECT_EQ(std::bit_cast<uint32_t>(exp(-kInfinity)), 0U);
  EXPECT_EQ(exp(-104.0F), 0.0F);
  EXPECT_EQ(exp(-103.5F), 0x1p-149F);
  EXPECT_TRUE(std::isnan(exp(std::nanf(""))));
}

TEST(Exp, rises_with_x) {
  float before = 0.0F;
  for (float x = -104.0F; x < 89.0F; x += 0x1p-10F) {
    EXPECT_GE(exp(x), before) << x;
    before = exp(x);
  }
}

TEST(Silu, is_within_its_stated_bound) {
  double worst = 0;
  sweep(87.0F, [&](float x) {
    const double exact = static_cast<double>(x) / (1.0 + std::exp(-static_cast<double>(x)));
    worst = std::max(worst, std::fabs(static_cast<double>(silu(x)) - exact) / ulp(exact));
  });
  EXPECT_LE(worst, 2.4);
  EXPECT_EQ(silu(0.0F), 0.0F);
  EXPECT_EQ(silu(kInfinity), kInfinity);
  EXPECT_EQ(std::bit_cast<uint32_t>(silu(-100.0F)), 0x80000000U);
  EXPECT_TRUE(std::isnan(silu(-kInfinity)));
}

// Each value passes through at most n / 16 additions of its lane and 4 of the tree.
TEST(Lanes, the_sum_is_within_its_bound_at_every_length) {
  for (int64_t n = 0; n <= 600; ++n) {
    test::Numbers numbers(static_cast<uint64_t>(n) + 1);
    Lanes lanes;
    double exact = 0, magnitude = 0;
    for (int64_t i = 0; i < n; ++i) {
      const float value = numbers.value();
      lanes.lane[i % 16] += value;
      exact += value;
      magnitude += std::fabs(value);
    }
    const double bound = (static_cast<double>(n) / 16 + 5) * 0x1p-24 * magnitude;
    EXPECT_LE(std::fabs(lanes.total() - exact), bound) << n;
  }
}

TEST(Lanes, the_tree_adds_halves) {
  Lanes lanes;
  // Only (a + b) + (c + d) of this order gives 2: each inner sum is exact, 2^24 + 1 is not.
  lanes.lane[0] = 0x1p+24F;
  lanes.lane[8] = -0x1p+24F;
  lanes.lane[4] = 1.0F;
  lanes.lane[12] = 1.0F;
  EXPECT_EQ(lanes.total(), 2.0F);
}

}  // namespace
}  // namespace mummu::reference
