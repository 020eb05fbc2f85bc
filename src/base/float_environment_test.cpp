#include "base/float_environment.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <memory>
#include <stdexcept>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace mummu {
namespace {

// Volatile operands: the sums and products below happen when and where they are written.
volatile float tiny = 0x1p-126F;
volatile float one = 1.0F;
volatile float small = 0x1p-30F;

float half_of_tiny() { return tiny * 0.5F; }
float one_and_a_bit() { return one + small; }

TEST(FloatEnvironment, denormals_survive_a_host_that_flushes_them) {
#if defined(__x86_64__)
  const unsigned before = _mm_getcsr();
  const unsigned flushing = before | 0x8040;
  _mm_setcsr(flushing);
  const float outside = half_of_tiny();
  const float inside = run_in_default_float_environment(half_of_tiny);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(outside, 0.0F);
  EXPECT_EQ(inside, 0x1p-127F);
  EXPECT_EQ(after & 0xFFC0, flushing & 0xFFC0);
#else
  EXPECT_EQ(run_in_default_float_environment(half_of_tiny), 0x1p-127F);
#endif
}

TEST(FloatEnvironment, the_hosts_rounding_is_replaced_and_comes_back) {
  std::fesetround(FE_UPWARD);
  const float outside = one_and_a_bit();
  const float inside = run_in_default_float_environment(one_and_a_bit);
  const int after = std::fegetround();
  std::fesetround(FE_TONEAREST);
  EXPECT_GT(outside, 1.0F);
  EXPECT_EQ(inside, 1.0F);
  EXPECT_EQ(after, FE_UPWARD);
}

TEST(FloatEnvironment, an_exception_passes_and_the_mode_comes_back) {
  std::fesetround(FE_DOWNWARD);
  bool caught = false;
  try {
    run_in_default_float_environment([] { throw std::runtime_error("from the host"); });
  } catch (const std::runtime_error&) {
    caught = true;
  }
  const int after = std::fegetround();
  std::fesetround(FE_TONEAREST);
  EXPECT_TRUE(caught);
  EXPECT_EQ(after, FE_DOWNWARD);
}

TEST(FloatEnvironment, a_value_that_only_moves_is_returned) {
  auto value = run_in_default_float_environment([] { return std::make_unique<int>(7); });
  EXPECT_EQ(*value, 7);
}

}  // namespace
}  // namespace mummu
