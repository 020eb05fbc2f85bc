#include "engine/logit_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/philox.h"

namespace mummu::test {
namespace {

constexpr int64_t kVocab = 300;
constexpr float kMasked = -std::numeric_limits<float>::infinity();

float uniform(uint64_t seed, int64_t at, float low, float high) {
  return low + (high - low) * static_cast<float>(random_uniform(seed, at, 2));
}

std::vector<float> random_row(uint64_t seed) {
  std::vector<float> row(kVocab);
  for (size_t i = 0; i < row.size(); ++i) row[i] = uniform(seed, static_cast<int64_t>(i), -9, 9);
  return row;
}

struct Bed {
  Bed() { editor.reserve(kVocab); }
  std::vector<float> apply(const std::vector<float>& row, const LogitRules& rules) {
    const auto out = editor.apply(row, kVocab, rules);
    return {out.begin(), out.end()};
  }
  LogitEditor editor;
};

// What header and issue say, in double: bias, then repetition over prompt and output, then
// frequency and presence over the output.
double by_formula(double x, const RequestOptions& options, TokenId id, bool in_prompt, int output) {
  const auto bias = options.logit_bias.find(id);
  if (bias != options.logit_bias.end()) x += static_cast<double>(bias->second);
  const auto factor = static_cast<double>(options.repetition_penalty);
  if (in_prompt || output > 0) x = x > 0 ? x / factor : x * factor;
  x -= static_cast<double>(options.frequency_penalty) * output;
  return output > 0 ? x - static_cast<double>(options.presence_penalty) : x;
}

TEST(LogitRules, penalties_and_bias_are_the_formula_up_to_five_roundings) {
  Bed bed;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    RequestOptions options;
    options.repetition_penalty = seed % 4 == 0 ? 1 : uniform(seed, 1000, 0.5f, 3);
    options.presence_penalty = seed % 3 == 0 ? 0 : uniform(seed, 1001, -2, 2);
    options.frequency_penalty = seed % 5 == 0 ? 0 : uniform(seed, 1002, -2, 2);
    std::vector<int> output(kVocab);
    std::vector<bool> prompt(kVocab);
    TokenCounts counts;
    counts.reserve(kVocab);
    for (int64_t i = 0; i < 400; ++i) {
      const auto words = random_words(seed, i, 3);
      const auto id = static_cast<TokenId>(words[0] % kVocab);
      const bool in_prompt = words[1] % 2 == 0;
      if (in_prompt) {
        counts.add_prompt(id);
        prompt[static_cast<size_t>(id)] = true;
      } else {
        counts.add_output(id);
        ++output[static_cast<size_t>(id)];
      }
      if (words[2] % 16 == 0) options.logit_bias[id] = uniform(seed, i, -5, 5);
    }
    const auto row = random_row(seed);
    const auto edited = bed.apply(row, {.options = &options, .counts = &counts});
    ASSERT_TRUE(bed.editor.changed());
    for (size_t i = 0; i < row.size(); ++i) {
      const double wanted = by_formula(static_cast<double>(row[i]), options,
                                       static_cast<TokenId>(i), prompt[i], output[i]);
      // No term is above 9 + 5 times 3, and 2 times the count; each rounding adds half an ulp.
      const double largest = 42 + 2.0 * output[i];
      ASSERT_NEAR(static_cast<double>(edited[i]), wanted, 5 * largest * 0x1p-24)
          << seed << ' ' << i;
    }
  }
}

TEST(LogitRules, defaults_use_the_raw_row_itself) {
  Bed bed;
  const RequestOptions options;
  const TokenId ends[] = {3};
  const auto row = random_row(1);
  const auto out = bed.editor.apply(row, kVocab, {.options = &options, .ends = ends});
  EXPECT_EQ(out.data(), row.data());
  EXPECT_FALSE(bed.editor.changed());
}

TEST(LogitRules, the_bias_comes_before_the_penalty) {
  Bed bed;
  std::vector<float> row(kVocab, 0);
  row[5] = -1;
  TokenCounts counts;
  counts.reserve(4);
  counts.add_prompt(5);
  const RequestOptions options{.repetition_penalty = 2, .logit_bias = {{5, 4.0f}, {6, kMasked}}};
  const auto edited = bed.apply(row, {.options = &options, .counts = &counts});
  EXPECT_EQ(edited[5], 1.5f) << "(-1 + 4) / 2";
  EXPECT_EQ(edited[6], kMasked);
  EXPECT_EQ(edited[7], 0);
}

TEST(LogitRules, ends_and_stop_ids_are_masked_below_min_tokens) {
  Bed bed;
  RequestOptions options{.stop_ids = {9}};
  const TokenId ends[] = {3};
  const auto row = random_row(2);
  auto edited = bed.apply(row, {.options = &options, .ends = ends, .mask_ends = true});
  EXPECT_EQ(edited[3], kMasked);
  EXPECT_EQ(edited[9], kMasked);
  EXPECT_EQ(std::count(edited.begin(), edited.end(), kMasked), 2);
  options.ignore_eos = true;
  edited = bed.apply(row, {.options = &options, .ends = ends, .mask_ends = true});
  EXPECT_EQ(edited[3], row[3]) << "an ordinary token";
  EXPECT_EQ(edited[9], kMasked);
}

// Allows what stands in a list.
class Listed final : public Constraint {
 public:
  Listed(std::vector<TokenId> ids, bool complete) : ids_(std::move(ids)), complete_(complete) {}
  void mask(std::span<uint64_t> allowed) override {
    for (size_t i = 0; i < 64 * allowed.size(); ++i)
      if (std::find(ids_.begin(), ids_.end(), static_cast<TokenId>(i)) == ids_.end())
        allowed[i / 64] &= ~(uint64_t{1} << (i % 64));
  }
  void accept(TokenId) override {}
  bool is_complete() const override { return complete_; }

 private:
  std::vector<TokenId> ids_;
  bool complete_;
};

TEST(LogitRules, a_constraint_leaves_what_it_allows_and_the_end_only_when_complete) {
  Bed bed;
  RequestOptions options;
  const TokenId ends[] = {3, 299};
  const auto row = random_row(3);
  const auto left = [&](bool complete) {
    Listed listed({0, 3, 63, 64, 130, 298}, complete);
    const auto edited = bed.apply(row, {.options = &options, .constraint = &listed, .ends = ends});
    std::vector<TokenId> ids;
    for (TokenId id = 0; id < kVocab; ++id) {
      const auto at = static_cast<size_t>(id);
      if (edited[at] == row[at]) ids.push_back(id);
      EXPECT_TRUE(edited[at] == row[at] || edited[at] == kMasked) << id;
    }
    return ids;
  };
  EXPECT_EQ(left(false), (std::vector<TokenId>{0, 63, 64, 130, 298}));
  EXPECT_EQ(left(true), (std::vector<TokenId>{0, 3, 63, 64, 130, 298, 299}));
  options.ignore_eos = true;
  EXPECT_EQ(left(true), (std::vector<TokenId>{0, 63, 64, 130, 298}));
}

TEST(LogitRules, columns_beyond_the_vocabulary_are_left_out) {
  Bed bed;
  const RequestOptions options{.logit_bias = {{0, 1.0f}}};
  const auto row = random_row(4);
  EXPECT_EQ(bed.editor.apply(row, 200, {.options = &options}).size(), 200u);
  const RequestOptions plain;
  EXPECT_EQ(bed.editor.apply(row, 200, {.options = &plain}).size(), 200u);
}

}  // namespace
}  // namespace mummu::test
