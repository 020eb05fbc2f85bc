#include "engine/test/matrix.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/test/random.h"

namespace mummu::test {
namespace {

constexpr int kCount = static_cast<int>(kFactors.size());

int levels(int factor) {
  return static_cast<int>(kFactors[static_cast<size_t>(factor)].levels.size());
}

using Pair = std::array<int, 4>;  // factor, level, later factor, level

std::set<Pair> all_pairs() {
  std::set<Pair> pairs;
  for (int a = 0; a < kCount; ++a)
    for (int b = a + 1; b < kCount; ++b)
      for (int i = 0; i < levels(a); ++i)
        for (int j = 0; j < levels(b); ++j) pairs.insert({a, i, b, j});
  return pairs;
}

int64_t missing_pairs(const Row& row, const std::set<Pair>& missing) {
  int64_t found = 0;
  for (int a = 0; a < kCount; ++a)
    for (int b = a + 1; b < kCount; ++b)
      found += static_cast<int64_t>(missing.contains(
          {a, row.level[static_cast<size_t>(a)], b, row.level[static_cast<size_t>(b)]}));
  return found;
}

}  // namespace

std::string Row::name() const {
  std::string text;
  for (size_t i = 0; i < kFactors.size(); ++i)
    text += std::string(i ? ", " : "") + kFactors[i].name + " " +
            kFactors[i].levels[static_cast<size_t>(level[i])];
  return text;
}

// Greedy: of some random rows that hold a missing pair, the one that meets most missing pairs.
std::vector<Row> pairwise_rows(uint64_t seed) {
  Random random(seed);
  std::vector<Row> rows;
  std::set<Pair> missing = all_pairs();
  while (!missing.empty()) {
    Row best;
    int64_t most = -1;
    for (int candidate = 0; candidate < 60; ++candidate) {
      Row row;
      for (int i = 0; i < kCount; ++i)
        row.level[static_cast<size_t>(i)] = static_cast<int>(random.below(levels(i)));
      auto at = missing.begin();
      std::advance(at, random.below(std::ssize(missing)));
      row.level[static_cast<size_t>((*at)[0])] = (*at)[1];
      row.level[static_cast<size_t>((*at)[2])] = (*at)[3];
      const int64_t meets = missing_pairs(row, missing);
      if (meets > most) best = row;
      most = std::max(most, meets);
    }
    std::erase_if(missing, [&](const Pair& pair) {
      return best.level[static_cast<size_t>(pair[0])] == pair[1] &&
             best.level[static_cast<size_t>(pair[2])] == pair[3];
    });
    rows.push_back(best);
  }
  return rows;
}

std::vector<Row> all_rows() {
  std::vector<Row> rows(1);
  for (int factor = 0; factor < kCount; ++factor) {
    std::vector<Row> longer;
    for (const Row& row : rows)
      for (int level = 0; level < levels(factor); ++level) {
        longer.push_back(row);
        longer.back().level[static_cast<size_t>(factor)] = level;
      }
    rows = std::move(longer);
  }
  return rows;
}

namespace {

TEST(Matrix, a_pairwise_table_is_short_and_leaves_no_pair_out) {
  const auto rows = pairwise_rows(1);
  std::set<Pair> missing = all_pairs();
  for (const Row& row : rows)
    std::erase_if(missing, [&](const Pair& pair) {
      return row.level[static_cast<size_t>(pair[0])] == pair[1] &&
             row.level[static_cast<size_t>(pair[2])] == pair[3];
    });
  EXPECT_TRUE(missing.empty());
  EXPECT_LT(rows.size(), 45u);
  EXPECT_EQ(all_rows().size(), 4u * 5 * 3 * 3 * 2 * 4 * 3 * 4 * 2);
}

}  // namespace
}  // namespace mummu::test
