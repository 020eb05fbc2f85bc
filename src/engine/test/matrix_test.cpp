#include "engine/test/matrix.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string_view>

#include "engine/test/random.h"

namespace mummu::test {
namespace {

int count(const std::vector<Factor>& factors) { return static_cast<int>(factors.size()); }

int levels(const std::vector<Factor>& factors, int factor) {
  return static_cast<int>(factors[static_cast<size_t>(factor)].levels.size());
}

using Pair = std::array<int, 4>;  // factor, level, later factor, level

std::set<Pair> all_pairs(const std::vector<Factor>& factors) {
  std::set<Pair> pairs;
  for (int a = 0; a < count(factors); ++a)
    for (int b = a + 1; b < count(factors); ++b)
      for (int i = 0; i < levels(factors, a); ++i)
        for (int j = 0; j < levels(factors, b); ++j) pairs.insert({a, i, b, j});
  return pairs;
}

bool meets(const Row& row, const Pair& pair) {
  return row.level[static_cast<size_t>(pair[0])] == pair[1] &&
         row.level[static_cast<size_t>(pair[2])] == pair[3];
}

int64_t missing_pairs(const Row& row, const std::set<Pair>& missing) {
  int64_t found = 0;
  const int factors = count(*row.factors);
  for (int a = 0; a < factors; ++a)
    for (int b = a + 1; b < factors; ++b)
      found += static_cast<int64_t>(missing.contains(
          {a, row.level[static_cast<size_t>(a)], b, row.level[static_cast<size_t>(b)]}));
  return found;
}

}  // namespace

std::string Row::name() const {
  std::string text;
  for (size_t i = 0; i < factors->size(); ++i)
    text += std::string(i ? ", " : "") + (*factors)[i].name + " " + (*this)[i];
  return text;
}

// Greedy: of some random rows that hold a missing pair, the one that meets most missing pairs.
std::vector<Row> pairwise_rows(uint64_t seed, const std::vector<Factor>& factors) {
  Random random(seed);
  std::vector<Row> rows;
  std::set<Pair> missing = all_pairs(factors);
  while (!missing.empty()) {
    Row best(factors);
    int64_t most = -1;
    for (int candidate = 0; candidate < 60; ++candidate) {
      Row row(factors);
      for (int i = 0; i < count(factors); ++i)
        row.level[static_cast<size_t>(i)] = static_cast<int>(random.below(levels(factors, i)));
      auto at = missing.begin();
      std::advance(at, random.below(std::ssize(missing)));
      row.level[static_cast<size_t>((*at)[0])] = (*at)[1];
      row.level[static_cast<size_t>((*at)[2])] = (*at)[3];
      const int64_t met = missing_pairs(row, missing);
      if (met > most) best = row;
      most = std::max(most, met);
    }
    std::erase_if(missing, [&](const Pair& pair) { return meets(best, pair); });
    rows.push_back(best);
  }
  return rows;
}

std::vector<Row> all_rows(const std::vector<Factor>& factors) {
  std::vector<Row> rows(1, Row(factors));
  for (int factor = 0; factor < count(factors); ++factor) {
    std::vector<Row> longer;
    for (const Row& row : rows)
      for (int level = 0; level < levels(factors, factor); ++level) {
        longer.push_back(row);
        longer.back().level[static_cast<size_t>(factor)] = level;
      }
    rows = std::move(longer);
  }
  return rows;
}

std::vector<Row> asked_rows(const std::vector<Factor>& factors) {
  const char* asked = std::getenv("MUMMU_MATRIX");
  if (!asked) return {};
  size_t part = 0, parts = 1;
  if (asked != std::string_view("all") && std::sscanf(asked, "%zu/%zu", &part, &parts) != 2)
    throw std::invalid_argument("MUMMU_MATRIX: expected all or K/N");
  const auto all = all_rows(factors);
  std::vector<Row> rows;
  for (size_t i = part; i < all.size(); i += parts) rows.push_back(all[i]);
  return rows;
}

namespace {

TEST(Matrix, a_pairwise_table_is_short_and_leaves_no_pair_out) {
  const auto rows = pairwise_rows(1);
  std::set<Pair> missing = all_pairs(kFactors);
  for (const Row& row : rows)
    std::erase_if(missing, [&](const Pair& pair) { return meets(row, pair); });
  EXPECT_TRUE(missing.empty());
  EXPECT_LT(rows.size(), 45u);
  EXPECT_EQ(all_rows().size(), 4u * 5 * 3 * 3 * 2 * 4 * 3 * 4 * 2);
}

}  // namespace
}  // namespace mummu::test
