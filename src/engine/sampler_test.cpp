#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/philox.h"
#include "engine/weight.h"
#include "layer/double_math.h"

namespace mummu {
namespace {

std::vector<float> random_row(int64_t columns, uint64_t seed, bool coarse) {
  std::vector<float> row(static_cast<size_t>(columns));
  for (size_t i = 0; i < row.size(); ++i) {
    const auto words = random_words(seed, static_cast<int64_t>(i), 3);
    row[i] = static_cast<float>(words[0]) * 0x1p-32f * 24 - 12;
    if (coarse) row[i] = std::rint(row[i]);
  }
  return row;
}

// The definition of sampler.h, word by word, over a fully sorted row.
TokenId by_definition(const std::vector<float>& row, const RequestOptions& options,
                      const Draw& draw) {
  std::vector<TokenId> ids(row.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::sort(ids.begin(), ids.end(), [&](TokenId a, TokenId b) { return comes_before(row, a, b); });
  if (options.temperature == 0) return ids[0];
  const double inverse = 1.0 / static_cast<double>(options.temperature);
  const double highest = row[static_cast<size_t>(ids[0])];
  const auto distance = [&](TokenId id) {
    return (static_cast<double>(row[static_cast<size_t>(id)]) - highest) * inverse;
  };
  const auto weight = [&](TokenId id) {
    const double d = distance(id);
    return d >= kWeightFloor ? token_weight(d) : uint64_t{0};
  };
  if (options.top_k > 0) ids.resize(std::min(ids.size(), static_cast<size_t>(options.top_k)));
  uint64_t all = 0;
  for (TokenId id : ids) all += weight(id);
  uint64_t kept = 0;
  size_t count = ids.size();
  if (options.top_p < 1) {
    const double least = std::ceil(static_cast<double>(options.top_p) * static_cast<double>(all));
    for (count = 0; count < ids.size() && static_cast<double>(kept) < least; ++count)
      kept += weight(ids[count]);
  }
  if (options.min_p > 0) {
    const double least = natural_log(static_cast<double>(options.min_p));
    size_t likely = 0;
    while (likely < count && distance(ids[likely]) >= least) ++likely;
    count = likely;
  }
  kept = 0;
  for (size_t i = 0; i < count; ++i) kept += weight(ids[i]);
  const auto words = random_words(draw.seed, draw.position, draw.choice);
  const uint64_t bits = uint64_t{words[0]} << 32 | words[1];
  __extension__ using Wide = unsigned __int128;
  const auto target = static_cast<uint64_t>((static_cast<Wide>(bits) * kept) >> 64);
  uint64_t cumulative = 0;
  for (TokenId id : ids) {
    cumulative += weight(id);
    if (cumulative > target) return id;
  }
  return -1;
}

struct Bed {
  explicit Bed(int64_t columns) {
    sampler.reserve(columns);
    scan.reserve(columns);
  }
  std::optional<TokenId> pick(const std::vector<float>& row, const RequestOptions& options,
                              const Draw& draw) {
    scan.look(row, true);
    return sampler.pick(row, scan, options, draw);
  }
  Sampler sampler;
  RowScan scan;
};

TEST(Sampler, every_shortcut_picks_what_the_definition_picks) {
  const RequestOptions settings[] = {
      {},
      {.temperature = 0.7f},
      {.temperature = 30},
      {.temperature = 0.01f},
      {.temperature = 1, .top_k = 1},
      {.temperature = 1, .top_k = 40},
      {.temperature = 2, .top_k = 1500},
      {.temperature = 1, .top_p = 0.9f},
      {.temperature = 5, .top_p = 0.999f},
      {.temperature = 1, .top_p = 1e-6f},
      {.temperature = 2, .min_p = 0.05f},
      {.temperature = 3, .top_k = 2000, .top_p = 0.95f, .min_p = 0.001f},
      {.temperature = 1, .top_k = 50, .top_p = 0.5f, .min_p = 0.1f},
  };
  for (int64_t columns : {1, 2, 63, 64, 65, 300, 5000}) {
    Bed bed(columns);
    for (uint64_t seed = 0; seed < 24; ++seed) {
      const auto row = random_row(columns, seed, seed % 2 == 0);
      for (const RequestOptions& options : settings) {
        const Draw draw{.seed = seed, .position = static_cast<int64_t>(seed) + 7, .choice = 1};
        ASSERT_EQ(bed.pick(row, options, draw), by_definition(row, options, draw))
            << columns << " columns, seed " << seed << ", temperature " << options.temperature
            << ", top_k " << options.top_k << ", top_p " << options.top_p << ", min_p "
            << options.min_p;
      }
    }
  }
}

TEST(Sampler, ties_go_to_the_lower_id) {
  Bed bed(300);
  std::vector<float> row(300, 1.5f);
  EXPECT_EQ(bed.pick(row, {}, {}), 0);
  row[0] = row[1] = 0;
  EXPECT_EQ(bed.pick(row, {}, {}), 2);
  EXPECT_EQ(bed.pick(row, {.temperature = 1, .top_k = 1}, {}), 2);
}

// What best() returns is a view of the scratch that any ordering needs; greedy does not touch it.
TEST(Sampler, greedy_orders_nothing) {
  Bed bed(5000);
  const auto row = random_row(5000, 1, false), other = random_row(5000, 2, false);
  bed.scan.look(row, true);
  const std::span<const TokenId> scratch = bed.scan.best(300);
  const std::vector<TokenId> before(scratch.begin(), scratch.end());
  EXPECT_EQ(bed.pick(other, {}, {}), by_definition(other, {}, {}));
  EXPECT_TRUE(std::equal(scratch.begin(), scratch.end(), before.begin()));
  EXPECT_TRUE(bed.pick(other, {.temperature = 1}, {}));
  EXPECT_FALSE(std::equal(scratch.begin(), scratch.end(), before.begin())) << "sampling does";
}

TEST(Sampler, a_masked_token_is_never_picked) {
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  Bed bed(100);
  std::vector<float> row(100, kMasked);
  EXPECT_EQ(bed.pick(row, {}, {}), std::nullopt);
  EXPECT_EQ(bed.pick(row, {.temperature = 9}, {}), std::nullopt);
  row[71] = -40;
  for (int64_t position = 0; position < 50; ++position)
    EXPECT_EQ(bed.pick(row, {.temperature = 9}, {.position = position}), 71);
}

TEST(Sampler, frequencies_follow_the_probabilities) {
  Bed bed(4);
  const std::vector<float> row = {0, std::log(2.0f), std::log(4.0f), std::log(1.0f)};
  std::map<TokenId, int> counts;
  constexpr int kDraws = 40000;
  for (int i = 0; i < kDraws; ++i)
    ++counts[*bed.pick(row, {.temperature = 1}, {.seed = 5, .position = i})];
  const double expected[] = {1, 2, 4, 1};
  for (TokenId id = 0; id < 4; ++id) {
    const double share = expected[id] / 8;
    const double sigma = std::sqrt(share * (1 - share) / kDraws);
    EXPECT_NEAR(static_cast<double>(counts[id]) / kDraws, share, 5 * sigma) << id;
  }
}

TEST(Sampler, a_row_that_is_not_finite_is_noticed) {
  RowScan scan;
  scan.reserve(200);
  std::vector<float> row(200, 1.0f);
  EXPECT_TRUE(scan.look(row, false));
  for (float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (size_t at : {size_t{0}, size_t{63}, size_t{130}, size_t{199}}) {
      row[at] = bad;
      EXPECT_FALSE(scan.look(row, false)) << at;
      EXPECT_FALSE(scan.look(row, true)) << at;
      row[at] = 1;
    }
  }
  row[9] = -std::numeric_limits<float>::infinity();
  EXPECT_FALSE(scan.look(row, false));
  EXPECT_TRUE(scan.look(row, true));
}

}  // namespace
}  // namespace mummu
