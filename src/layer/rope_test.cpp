#include "layer/rope.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

namespace mummu {
namespace {

TEST(Rope, standard_frequencies_fall_geometrically_from_one) {
  const auto frequencies = rope_frequencies({.theta = 10000, .rotary_dim = 64});
  ASSERT_EQ(frequencies.size(), 32U);
  EXPECT_EQ(frequencies[0], 1);
  for (size_t i = 0; i < 32; ++i) {
    const double expected = std::pow(10000.0, -2.0 * static_cast<double>(i) / 64);
    EXPECT_NEAR(frequencies[i], expected, 3e-15 * expected);
  }
}

TEST(Rope, linear_scaling_divides_every_frequency) {
  const auto plain = rope_frequencies({.theta = 10000, .rotary_dim = 16});
  const auto scaled =
      rope_frequencies({.kind = RopeKind::linear, .theta = 10000, .rotary_dim = 16, .factor = 4});
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(scaled[i], plain[i] / 4);
}

TEST(Rope, llama3_keeps_short_wavelengths_and_divides_long_ones) {
  RopeConfig config{.theta = 500000, .rotary_dim = 128, .factor = 8, .original_context = 8192};
  const auto plain = rope_frequencies(config);
  config.kind = RopeKind::llama3;
  const auto scaled = rope_frequencies(config);
  EXPECT_EQ(scaled[0], plain[0]);
  EXPECT_EQ(scaled[63], plain[63] / 8);
  bool between = false;
  for (size_t i = 1; i < scaled.size(); ++i) {
    EXPECT_LE(scaled[i], plain[i]);
    EXPECT_GE(scaled[i], plain[i] / 8);
    EXPECT_LT(scaled[i], scaled[i - 1]);
    between = between || (scaled[i] < plain[i] && scaled[i] > plain[i] / 8);
  }
  EXPECT_TRUE(between);
}

TEST(Rope, stored_divisors_give_the_bits_of_the_formula_they_were_made_by) {
  RopeConfig config{.theta = 500000, .rotary_dim = 64, .factor = 32, .original_context = 8192};
  const auto plain = rope_frequencies(config);
  config.kind = RopeKind::llama3;
  const auto scaled = rope_frequencies(config);
  config.kind = RopeKind::standard;
  for (size_t i = 0; i < plain.size(); ++i)
    config.divisors.push_back(static_cast<float>(plain[i] / scaled[i]));
  EXPECT_EQ(rope_frequencies(config), scaled);
}

TEST(Rope, yarn_keeps_the_fast_components_and_divides_the_slow_ones) {
  RopeConfig config{.theta = 10000, .rotary_dim = 128, .factor = 16, .original_context = 4096};
  const auto plain = rope_frequencies(config);
  config.kind = RopeKind::yarn;
  const auto scaled = rope_frequencies(config);
  EXPECT_EQ(scaled[0], plain[0]);
  EXPECT_EQ(scaled[63], plain[63] / 16);
  EXPECT_NEAR(yarn_attention_factor(16), 0.1 * std::log(16.0) + 1, 1e-15);
  EXPECT_EQ(yarn_attention_factor(0.5), 1);
}

TEST(Rope, a_table_does_not_depend_on_the_rounding_mode_of_the_host) {
  const RopeConfig config{.theta = 10000, .rotary_dim = 64, .attention_factor = 1.25};
  std::vector<float> here(100 * 64);
  fill_rope_table(config, 100, here.data());
  std::vector<float> there(here.size());
  ASSERT_EQ(std::fesetround(FE_DOWNWARD), 0);
  fill_rope_table(config, 100, there.data());
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(here, there);
  EXPECT_EQ(here[0], 1.25F);
  EXPECT_EQ(here[32], 0);
}

}  // namespace
}  // namespace mummu
