#include "base/philox.h"

#include <gtest/gtest.h>

#include <cmath>

namespace mummu {
namespace {

using Words = std::array<uint32_t, 4>;

// The known answers published with Random123 (kat_vectors, philox4x32 10).
TEST(Philox, the_published_vectors_come_out) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, seed_position_and_choice_each_change_the_draw) {
  const double base = random_uniform(1, 2, 3);
  EXPECT_EQ(base, random_uniform(1, 2, 3));
  EXPECT_NE(base, random_uniform(2, 2, 3));
  EXPECT_NE(base, random_uniform(1, 3, 3));
  EXPECT_NE(base, random_uniform(1, 2, 4));
  EXPECT_NE(base, random_uniform(1ULL << 32 | 1, 2, 3));
}

TEST(Philox, uniform_draws_stay_below_one_and_spread_evenly) {
  int bins[16] = {};
  double sum = 0;
  constexpr int kDraws = 160000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random_uniform(42, i, 0);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++bins[static_cast<int>(u * 16)];
    sum += u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.003);
  for (int count : bins) EXPECT_NEAR(count, kDraws / 16.0, 500);  // five standard deviations
}

}  // namespace
}  // namespace mummu
