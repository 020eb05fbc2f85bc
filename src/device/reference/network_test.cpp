// The ops of single families against f64.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "device/reference/scalar.h"
#include "device/test/bed.h"
#include "mummu/device.h"

namespace mummu::test {
namespace {

Device reference_device() { return open_device("cpu", {.isa = Isa::reference}).value(); }

TEST(ReferenceGelu, is_right_to_the_stated_bound) {
  double worst = 0;
  for (double x = -20; x <= 20; x += 0.00037) {
    const auto rounded = static_cast<float>(x);
    const auto exact = static_cast<double>(rounded);
    const double expected = 0.5 * exact * std::erfc(-exact / std::sqrt(2.0));
    const double off = std::abs(static_cast<double>(reference::gelu(rounded)) - expected);
    worst = std::max(worst, off / std::abs(exact));
  }
  EXPECT_LE(worst, 3e-7);
  EXPECT_EQ(reference::gelu(0), 0);
  EXPECT_EQ(reference::gelu(std::numeric_limits<float>::infinity()),
            std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(reference::gelu(std::numeric_limits<float>::quiet_NaN())));
}

TEST(ReferenceLayerNorm, is_right_to_1e_5) {
  Device device = reference_device();
  Bed bed(device.ops());
  constexpr int64_t kColumns = 384;
  const auto values = Numbers(1).values(kColumns);
  const auto weights = Numbers(2).values(kColumns);
  const auto biases = Numbers(3).values(kColumns);
  const View x = bed.floats(1, kColumns, values);
  const View weight = bed.floats(1, kColumns, weights);
  const View bias = bed.floats(1, kColumns, biases);
  bed.step([&] { bed.ops().layer_norm(x, weight, bias, 1e-12F, x); });
  const auto out = bed.read(x);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / kColumns;
  double variance = 0;
  for (float v : values) variance += (v - mean) * (v - mean) / kColumns;
  for (size_t i = 0; i < out.size(); ++i) {
    const double expected =
        (values[i] - mean) / std::sqrt(variance) * static_cast<double>(weights[i]) +
        static_cast<double>(biases[i]);
    EXPECT_NEAR(static_cast<double>(out[i]), expected, 1e-5) << i;
  }
}

TEST(ReferenceRoute, chooses_the_largest_and_shares_add_up) {
  Device device = reference_device();
  Bed bed(device.ops());
  const View scores = bed.floats(1, 6, {0.1F, 2.0F, -1.0F, 2.0F, 0.0F, 1.0F});
  const View chosen = bed.ints({-1, -1, -1});
  const View share = bed.blank(1, 3);
  bed.step([&] { bed.ops().route(scores, true, chosen, share); });
  std::array<int32_t, 3> ids = {};
  bed.ops().download(chosen, ids.data());
  EXPECT_EQ(ids, (std::array<int32_t, 3>{1, 3, 5}));
  const auto shares = bed.read(share);
  const double rest = std::exp(1.0);
  const double most = std::exp(2.0);
  EXPECT_NEAR(static_cast<double>(shares[0]), most / (2 * most + rest), 1e-6);
  EXPECT_NEAR(static_cast<double>(shares[2]), rest / (2 * most + rest), 1e-6);
}

TEST(ReferenceRoute, a_tie_goes_to_the_lower_expert) {
  Device device = reference_device();
  Bed bed(device.ops());
  const View scores = bed.floats(1, 4, {0.0F, 1.0F, 1.0F, 1.0F});
  const View chosen = bed.ints({-1, -1});
  const View share = bed.blank(1, 2);
  bed.step([&] { bed.ops().route(scores, false, chosen, share); });
  std::array<int32_t, 2> ids = {};
  bed.ops().download(chosen, ids.data());
  EXPECT_EQ(ids, (std::array<int32_t, 2>{1, 2}));
}

TEST(ReferencePool, every_way_is_what_its_name_says) {
  Device device = reference_device();
  Bed bed(device.ops());
  const View x = bed.floats(4, 2, {1, 9, 2, 8, 3, 7, 10, 6});
  const View out = bed.blank(1, 2);
  const PoolRun all{.tokens = 4};
  const auto pooled = [&](Pool how) {
    bed.step([&] { bed.ops().pool(x, how, {&all, 1}, out); });
    return bed.read(out);
  };
  EXPECT_EQ(pooled(Pool::first), (std::vector<float>{1, 9}));
  EXPECT_EQ(pooled(Pool::last), (std::vector<float>{10, 6}));
  EXPECT_EQ(pooled(Pool::largest), (std::vector<float>{10, 9}));
  EXPECT_EQ(pooled(Pool::mean), (std::vector<float>{4, 7.5}));
  EXPECT_EQ(pooled(Pool::mean_sqrt), (std::vector<float>{8, 15}));
  EXPECT_EQ(pooled(Pool::weighted_mean), (std::vector<float>{5.4F, 7}));
}

TEST(ReferenceL2Norm, a_row_gets_length_one_and_zeros_stay) {
  Device device = reference_device();
  Bed bed(device.ops());
  const View x = bed.floats(2, 2, {3, 4, 0, 0});
  bed.step([&] { bed.ops().l2_norm(x, x); });
  EXPECT_EQ(bed.read(x), (std::vector<float>{0.6F, 0.8F, 0, 0}));
}

TEST(ReferenceShortConv, is_a_causal_convolution_between_two_gates) {
  Device device = reference_device();
  Bed bed(device.ops());
  ConvLayer layer{.pool = {}, .length = 3, .hidden = 1};
  layer.pool = bed.bytes(1, layer.bytes(), std::vector<std::byte>(8));
  const View kernel = bed.floats(3, 1, {100, 10, 1});
  // B, C, x of four tokens; u is 1, 2, 3, 4.
  const View bcx = bed.floats(4, 3, {1, 1, 1, 2, 1, 1, 1, 2, 3, 4, 1, 1});
  const View out = bed.blank(4, 1);
  const std::array<int32_t, 1> pages = {0};
  const Segment segment{.tokens = 4, .pages = pages};
  bed.step([&] { bed.ops().short_conv(bcx, kernel, {}, layer, {&segment, 1}, out); });
  EXPECT_EQ(bed.read(out), (std::vector<float>{1, 12, 246, 234}));
}

}  // namespace
}  // namespace mummu::test
