#include "layer/double_math.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mummu {
namespace {

TEST(DoubleMath, sines_and_cosines_are_right_to_3e_16) {
  for (int i = 0; i < 200'000; ++i) {
    const double x = i * 5.2428 + i * 1e-7 - 1e5;
    const SinCos ours = sin_cos(x);
    ASSERT_NEAR(ours.sin, static_cast<double>(sinl(static_cast<long double>(x))), 3e-16) << x;
    ASSERT_NEAR(ours.cos, static_cast<double>(cosl(static_cast<long double>(x))), 3e-16) << x;
  }
}

TEST(DoubleMath, logarithms_are_right_to_3e_16) {
  for (double x = 1e-6; x < 1e12; x *= 1.00137) {
    const double expected = static_cast<double>(logl(static_cast<long double>(x)));
    ASSERT_NEAR(natural_log(x), expected, 3e-16 * std::max(1.0, std::abs(expected))) << x;
  }
  EXPECT_EQ(natural_log(1), 0);
}

TEST(DoubleMath, exponentials_are_right_to_4e_16) {
  for (double x = -30; x < 30; x += 0.00137) {
    const double expected = static_cast<double>(expl(static_cast<long double>(x)));
    ASSERT_NEAR(exponential(x), expected, 4e-16 * expected) << x;
  }
  EXPECT_EQ(exponential(0), 1);
}

}  // namespace
}  // namespace mummu
