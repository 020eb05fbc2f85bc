#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mummu {
namespace {

bool is_nan_f16(uint32_t h) { return (h & 0x7FFFU) > 0x7C00U; }

// The value of a finite f16 from its definition.
double definition(uint32_t h) {
  const int exponent = static_cast<int>(h >> 10 & 0x1FU);
  const double fraction = h & 0x3FFU;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0 + fraction, exponent - 25);
  return (h & 0x8000U) != 0 ? -magnitude : magnitude;
}

TEST(Half, every_f16_widens_to_its_value_and_rounds_back) {
  for (uint32_t h = 0; h <= 0xFFFFU; ++h) {
    const float wide = widen_f16(static_cast<uint16_t>(h));
    if (is_nan_f16(h)) {
      EXPECT_TRUE(std::isnan(wide));
      EXPECT_TRUE(is_nan_f16(round_f16(wide)));
      continue;
    }
    const bool infinite = (h & 0x7FFFU) == 0x7C00U;
    EXPECT_TRUE(infinite ? std::isinf(wide) : static_cast<double>(wide) == definition(h)) << h;
    EXPECT_EQ(round_f16(wide), h);
  }
}

TEST(Half, rounding_takes_the_nearest_and_the_even_of_two) {
  for (uint32_t h = 0; h < 0x7BFFU; ++h) {
    const auto low = static_cast<uint16_t>(h);
    const auto high = static_cast<uint16_t>(h + 1);
    const float middle = 0.5F * (widen_f16(low) + widen_f16(high));  // exact
    const uint16_t even = h % 2 == 0 ? low : high;
    EXPECT_EQ(round_f16(middle), even);
    EXPECT_EQ(round_f16(-middle), even | 0x8000);
    EXPECT_EQ(round_f16(std::nextafter(middle, 0.0F)), low);
    EXPECT_EQ(round_f16(std::nextafter(middle, 1e30F)), high);
  }
}

TEST(Half, large_values_become_infinity_and_small_ones_zero) {
  EXPECT_EQ(round_f16(65519.996F), 0x7BFF);
  EXPECT_EQ(round_f16(65520.0F), 0x7C00);
  EXPECT_EQ(round_f16(-1e30F), 0xFC00);
  EXPECT_EQ(round_f16(std::numeric_limits<float>::infinity()), 0x7C00);
  EXPECT_EQ(round_f16(0x1p-25F), 0);
  EXPECT_EQ(round_f16(0x1.000002p-25F), 1);
  EXPECT_EQ(round_f16(-0x1p-149F), 0x8000);
  EXPECT_EQ(round_f16(-0.0F), 0x8000);
}

TEST(Half, bf16_is_the_upper_half_of_a_float) {
  EXPECT_EQ(widen_bf16(0x3F80), 1.0F);
  EXPECT_EQ(widen_bf16(0xC049), -3.140625F);
  EXPECT_EQ(widen_bf16(0x0001), 0x1p-133F);
  EXPECT_TRUE(std::isnan(widen_bf16(0x7FC1)));
}

TEST(Half, rounding_to_bf16_takes_the_nearest_and_the_even_of_two) {
  for (uint32_t h = 0; h < 0x7F7FU; ++h) {
    const auto low = static_cast<uint16_t>(h);
    const auto high = static_cast<uint16_t>(h + 1);
    const float middle = std::bit_cast<float>(h << 16 | 0x8000U);
    EXPECT_EQ(round_bf16(widen_bf16(low)), low);
    EXPECT_EQ(round_bf16(middle), h % 2 == 0 ? low : high);
    EXPECT_EQ(round_bf16(-middle), (h % 2 == 0 ? low : high) | 0x8000);
    EXPECT_EQ(round_bf16(std::nextafter(middle, 0.0F)), low);
    EXPECT_EQ(round_bf16(std::nextafter(middle, std::numeric_limits<float>::infinity())), high);
  }
  EXPECT_EQ(round_bf16(std::numeric_limits<float>::max()), 0x7F80)
      << "beyond the largest: infinity";
  EXPECT_EQ(round_bf16(-std::numeric_limits<float>::infinity()), 0xFF80);
  EXPECT_EQ(round_bf16(-std::numeric_limits<float>::quiet_NaN()), 0x7FC0);
}

}  // namespace
}  // namespace mummu
