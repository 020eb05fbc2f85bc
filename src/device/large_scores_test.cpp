// Attention whose scores are far larger than the largest f16: keys of some trained models have
// components of hundreds. Scores stay in f32, so their differences still decide.

#include <gtest/gtest.h>

#include <cmath>

#include "device/test/bed.h"
#include "mummu/device.h"

namespace mummu::test {
namespace {

class LargeScores : public testing::TestWithParam<Isa> {};

TEST_P(LargeScores, are_softmaxed_by_their_differences) {
  const auto device = open_device("cpu", {.isa = GetParam()});
  if (!device) GTEST_SKIP() << "skipped: " << device.error().message;
  Bed bed(device->ops());
  constexpr int64_t kTokens = 20;
  KvLayer layer;  // f16
  layer.kv_heads = 1;
  layer.head_dim = 2;
  layer.pool =
      bed.bytes(2, layer.bytes(), std::vector<std::byte>(static_cast<size_t>(2 * layer.bytes())));
  const std::vector<int32_t> pages = {0, 1};
  // Scores are 512 * 512 + t/4, exactly; f16 ends at 65504.
  std::vector<float> k, v, q;
  for (int t = 0; t < kTokens; ++t) {
    k.insert(k.end(), {512, static_cast<float>(t)});
    v.insert(v.end(), {static_cast<float>(t), 1});
    q.insert(q.end(), {512, 0.25F});
  }
  const View keys = bed.floats(kTokens, 2, k);
  const View values = bed.floats(kTokens, 2, v);
  const View queries = bed.floats(kTokens, 2, q);
  const View out = bed.blank(kTokens, 2);
  const Segment segment[] = {{0, kTokens, 0, pages}};
  bed.step([&] {
    bed.ops().kv_write(keys, values, layer, segment);
    bed.ops().attention(queries, 1, 1.0F, layer, segment, out);
  });
  const auto got = bed.read(out);
  for (int token = 0; token < kTokens; ++token) {
    double sum = 0;
    double mean = 0;
    for (int t = 0; t <= token; ++t) {
      const double p = std::exp((t - token) / 4.0);
      sum += p;
      mean += p * t;
    }
    EXPECT_NEAR(got[static_cast<size_t>(2 * token)], mean / sum, 1e-5) << token;
    EXPECT_NEAR(got[static_cast<size_t>(2 * token + 1)], 1, 1e-6) << token;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryIsa, LargeScores,
                         testing::Values(Isa::reference, Isa::avx2, Isa::avx512));

}  // namespace
}  // namespace mummu::test
