// Each op of the reference against the same formula in f64, within a bound that follows from how
// many roundings a result passes through.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/half.h"
#include "device/reference/kv_page.h"
#include "device/reference/reference_ops.h"
#include "device/reference/weight_row.h"
#include "device/test/scenario.h"

namespace mummu::reference {
namespace {

using test::Kind;
using test::Numbers;

constexpr double kUnit = 0x1p-24;  // the relative error of one rounding

class Reference : public testing::Test {
 protected:
  Reference() : ops_(serial()), bed_(ops_) {}

  ReferenceOps ops_;
  test::Bed bed_;
};

// The f64 product of a weight's row with x, and the sum of the terms' magnitudes.
struct Product {
  double value = 0, magnitude = 0;
};

Product exact_product(const Weight& weight, int64_t row, const std::vector<float>& x) {
  Product product;
  for (int64_t k = 0; k < weight.columns(); ++k) {
    const double term = static_cast<double>(element(weight, row, k)) * x[static_cast<size_t>(k)];
    product.value += term;
    product.magnitude += std::fabs(term);
  }
  return product;
}

TEST_F(Reference, embedding_of_blocks_is_scale_times_number_plus_minimum) {
  // One q4_1 block: scale 0.5, minimum -3, byte j = j | (15 - j) << 4; the same bytes as q4_0.
  std::vector<std::byte> q4_1 = {std::byte{0x00}, std::byte{0x38}, std::byte{0x00},
                                 std::byte{0xC2}};
  std::vector<std::byte> q4_0 = {std::byte{0x00}, std::byte{0x38}};
  for (int j = 0; j < 16; ++j) {
    q4_1.push_back(static_cast<std::byte>(j | (15 - j) << 4));
    q4_0.push_back(q4_1.back());
  }
  const Weight& with_minimum = bed_.weight(DType::q4_1, 1, 32, q4_1);
  const Weight& without = bed_.weight(DType::q4_0, 1, 32, q4_0);
  for (int64_t j = 0; j < 16; ++j) {
    const auto low = static_cast<float>(j);
    EXPECT_EQ(element(with_minimum, 0, j), 0.5F * low - 3);
    EXPECT_EQ(element(with_minimum, 0, j + 16), 0.5F * (15 - low) - 3);
    EXPECT_EQ(element(without, 0, j), 0.5F * (low - 8));
    EXPECT_EQ(element(without, 0, j + 16), 0.5F * (15 - low - 8));
  }
}

TEST_F(Reference, rms_norm) {
  constexpr int64_t kColumns = 577;
  const auto x = Numbers(1).values(kColumns);
  const auto weight = Numbers(2).values(kColumns);
  const View out = bed_.blank(1, kColumns);
  const View input = bed_.floats(1, kColumns, x);
  const View scale = bed_.floats(1, kColumns, weight);
  bed_.step([&] { ops_.rms_norm(input, scale, 1e-5F, out); });
  double squares = 0;
  for (float v : x) squares += static_cast<double>(v) * v;
  const double r = 1 / std::sqrt(squares / kColumns + static_cast<double>(1e-5F));
  const auto got = bed_.read(out);
  for (size_t i = 0; i < got.size(); ++i) {
    const double exact = x[i] * r * weight[i];
    // Half of the sum's (577 / 16 + 5) roundings, by the root; and six more.
    EXPECT_NEAR(got[i], exact, std::fabs(exact) * 27 * kUnit);
  }
}

TEST_F(Reference, matmul_of_floats) {
  constexpr int64_t kColumns = 576, kRows = 40;
  bed_.reserve(1, kColumns);
  const auto x = Numbers(3).values(kColumns);
  const View input = bed_.floats(1, kColumns, x);
  for (DType type : {DType::f32, DType::f16, DType::bf16}) {
    const Weight& weight = bed_.weight(type, kRows, kColumns, 4);
    const View out = bed_.blank(1, kRows);
    const MatmulOut to[] = {{.weight = &weight, .bias = {}, .out = out}};
    bed_.step([&] { ops_.matmul(input, to); });
    const auto got = bed_.read(out);
    for (int64_t row = 0; row < kRows; ++row) {
      const Product exact = exact_product(weight, row, x);
      EXPECT_NEAR(got[static_cast<size_t>(row)], exact.value, exact.magnitude * kColumns * kUnit);
    }
  }
}

TEST_F(Reference, matmul_of_blocks_is_exact_but_for_roundings_once_x_is_quantised) {
  constexpr int64_t kColumns = 768, kRows = 40, kBlocks = kColumns / kBlock;
  bed_.reserve(1, kColumns);
  const auto x = Numbers(5).values(kColumns);
  const View input = bed_.floats(1, kColumns, x);
  std::vector<int8_t> q(kColumns);
  std::vector<float> scale(kBlocks), sum(kBlocks);
  quantise(x.data(), kColumns, {q.data(), scale.data(), sum.data()});
  std::vector<float> near_x(kColumns);  // exact: 8 bits times 24 are rounded below the bound
  for (size_t k = 0; k < near_x.size(); ++k) near_x[k] = scale[k / kBlock] * q[k];
  double magnitude_of_x = 0;
  for (float v : near_x) magnitude_of_x += std::fabs(v);
  for (DType type : test::kWeightTypes) {
    if (!is_quantised(type)) continue;
    const double largest_minimum =
        has_minimum(type) ? 0.25 * (info(type).elements == 256 ? 63 : 1) : 0;
    const Weight& weight = bed_.weight(type, kRows, kColumns, 6);
    const View out = bed_.blank(1, kRows);
    const MatmulOut to[] = {{.weight = &weight, .bias = {}, .out = out}};
    bed_.step([&] { ops_.matmul(input, to); });
    const auto got = bed_.read(out);
    for (int64_t row = 0; row < kRows; ++row) {
      // Scale and minimum are counted apart: they may cancel. A scale of these weights is below
      // 1/4.
      const Product exact = exact_product(weight, row, near_x);
      const double apart = 2 * largest_minimum * magnitude_of_x;
      const double bound = (exact.magnitude + apart) * (2 * kBlocks + 6) * kUnit;
      EXPECT_NEAR(got[static_cast<size_t>(row)], exact.value, bound) << name(type);
    }
  }
}

TEST_F(Reference, gated) {
  constexpr int64_t kColumns = 96, kRows = 33;
  bed_.reserve(1, kColumns);
  const auto x = Numbers(7).values(kColumns);
  const View input = bed_.floats(1, kColumns, x);
  const Weight& gate = bed_.weight(DType::f32, kRows, kColumns, 8);
  const Weight& up = bed_.weight(DType::f32, kRows, kColumns, 9);
  const View out = bed_.blank(1, kRows);
  bed_.step([&] { ops_.gated(input, gate, up, out); });
  const auto got = bed_.read(out);
  for (int64_t row = 0; row < kRows; ++row) {
    const Product g = exact_product(gate, row, x);
    const Product u = exact_product(up, row, x);
    const double exact = g.value / (1 + std::exp(-g.value)) * u.value;
    // The slope of silu is below 1.1, and its value below |g|.
    const double bound = kColumns * kUnit *
                         (1.1 * g.magnitude * std::fabs(u.value) +
                          std::fabs(g.value) * u.magnitude + std::fabs(exact));
    EXPECT_NEAR(got[static_cast<size_t>(row)], exact, bound);
  }
}

TEST_F(Reference, rope_turns_each_pair_by_its_angle) {
  constexpr int64_t kHeads = 3, kHeadDim = 10, kRotary = 6, kPositions = 40;
  std::vector<float> table;
  for (int p = 0; p < kPositions; ++p) {
    for (int i = 0; i < 3; ++i) table.push_back(static_cast<float>(std::cos(p * std::pow(0.1, i))));
    for (int i = 0; i < 3; ++i) table.push_back(static_cast<float>(std::sin(p * std::pow(0.1, i))));
  }
  const auto x = Numbers(10).values(2 * kHeads * kHeadDim);
  const View to = bed_.floats(2, kHeads * kHeadDim, x);
  const View cos_sin = bed_.floats(kPositions, kRotary, table);
  const View positions = bed_.ints({7, 39});
  bed_.step([&] { ops_.rope(to, kHeads, positions, cos_sin); });
  const auto got = bed_.read(to);
  for (size_t head = 0; head < 2 * kHeads; ++head) {
    const int position = head < kHeads ? 7 : 39;
    for (size_t i = 0; i < kHeadDim; ++i) {
      const size_t at = head * kHeadDim + i;
      if (i >= kRotary) {
        EXPECT_EQ(got[at], x[at]);
        continue;
      }
      const size_t pair = i % 3;
      const double angle = position * std::pow(0.1, static_cast<double>(pair));
      const double a = x[head * kHeadDim + pair], b = x[head * kHeadDim + pair + 3];
      const double exact = i < 3 ? a * std::cos(angle) - b * std::sin(angle)
                                 : b * std::cos(angle) + a * std::sin(angle);
      EXPECT_NEAR(got[at], exact, (std::fabs(a) + std::fabs(b)) * 4 * kUnit);
    }
  }
}

// Component d of the key and of the value of a position.
float key_number(const KvLayer& layer, const Segment& segment, int64_t position, int64_t head,
                 int64_t d) {
  float page[kPageTokens];
  load_keys(key_at(layer, segment, position / kPageTokens * kPageTokens, head), d, page);
  return page[position % kPageTokens];
}
float value_number(const KvLayer& layer, const Segment& segment, int64_t position, int64_t head,
                   int64_t d) {
  float block[kBlock];
  load_value(value_at(layer, segment, position, head), d / kBlock * kBlock, d % kBlock + 1, block);
  return block[d % kBlock];
}

constexpr DType kKvTypes[] = {DType::f32, DType::f16, DType::bf16, DType::q8_0};

TEST_F(Reference, keys_and_values_are_stored_to_the_nearest_of_their_type) {
  constexpr int64_t kHeads = 3, kHeadDim = 40;
  const auto k = Numbers(14).values(kHeads * kHeadDim);
  const auto v = Numbers(15).values(kHeads * kHeadDim);
  const int32_t pages[] = {0};
  const Segment segment[] = {{0, 1, 5, pages}};
  for (DType type : kKvTypes) {
    KvLayer layer{.pool = {}, .type = type, .kv_heads = kHeads, .head_dim = kHeadDim};
    layer.pool =
        bed_.bytes(1, layer.bytes(), std::vector<std::byte>(static_cast<size_t>(layer.bytes())));
    const View keys = bed_.floats(1, kHeads * kHeadDim, k);
    const View values = bed_.floats(1, kHeads * kHeadDim, v);
    bed_.step([&] { ops_.kv_write(keys, values, layer, segment); });
    // Halves of the last place; of q8_0 that of the block's largest, and the scale's rounding.
    const double of_value = type == DType::f16 ? 0x1p-11 : type == DType::bf16 ? 0x1p-8 : 0;
    const double of_block = type == DType::q8_0 ? 0.5 / 127 + 0x1p-11 + 2 * kUnit : 0;
    for (int64_t h = 0; h < kHeads; ++h) {
      for (int64_t d = 0; d < kHeadDim; ++d) {
        const int64_t block = h * kHeadDim + d / kBlock * kBlock;
        const int64_t end = std::min(block + kBlock, (h + 1) * kHeadDim);
        const float key = key_number(layer, segment[0], 5, h, d);
        const float value = value_number(layer, segment[0], 5, h, d);
        for (const auto& [stored, from] : {std::pair(key, &k), std::pair(value, &v)}) {
          double largest = 0;
          for (int64_t i = block; i < end; ++i)
            largest = std::max<double>(largest, std::fabs((*from)[static_cast<size_t>(i)]));
          const double x = (*from)[static_cast<size_t>(h * kHeadDim + d)];
          EXPECT_NEAR(stored, x, std::fabs(x) * of_value + largest * of_block) << name(type);
        }
      }
    }
  }
}

TEST_F(Reference, attention_is_the_softmax_of_scores_over_values) {
  constexpr int64_t kHeads = 4, kKvHeads = 2, kHeadDim = 24, kTokens = 1100;
  std::vector<int32_t> pages(69);
  for (size_t i = 0; i < pages.size(); ++i) pages[i] = static_cast<int32_t>(68 - i);
  const Segment segment[] = {{0, kTokens, 0, pages}};
  const auto columns = kKvHeads * kHeadDim;
  const auto q = Numbers(13).values(kTokens * kHeads * kHeadDim);
  const View keys = bed_.floats(kTokens, columns, Numbers(11).values(kTokens * columns));
  const View values = bed_.floats(kTokens, columns, Numbers(12).values(kTokens * columns));
  const View queries = bed_.floats(kTokens, kHeads * kHeadDim, q);
  const View out = bed_.blank(kTokens, kHeads * kHeadDim);
  for (DType type : kKvTypes) {
    KvLayer layer{.pool = {}, .type = type, .kv_heads = kKvHeads, .head_dim = kHeadDim};
    layer.pool = bed_.bytes(69, layer.bytes(),
                            std::vector<std::byte>(static_cast<size_t>(69 * layer.bytes())));
    bed_.step([&] {
      ops_.kv_write(keys, values, layer, segment);
      ops_.attention(queries, kHeads, 0.2F, layer, segment, out);
    });
    const auto got = bed_.read(out);
    for (int64_t token : {0, 1, 511, 512, 700, 1099}) {
      for (int64_t head = 0; head < kHeads; ++head) {
        const auto query = static_cast<size_t>((token * kHeads + head) * kHeadDim);
        double sum = 0, largest = 0;
        std::vector<double> exact(kHeadDim);
        for (int64_t t = 0; t <= token; ++t) {
          double score = 0;
          for (int64_t d = 0; d < kHeadDim; ++d)
            score += static_cast<double>(q[query + static_cast<size_t>(d)]) *
                     key_number(layer, segment[0], t, head / 2, d);
          const double p = std::exp(score * static_cast<double>(0.2F));
          largest = std::max(largest, std::fabs(score));
          sum += p;
          for (int64_t d = 0; d < kHeadDim; ++d)
            exact[static_cast<size_t>(d)] += p * value_number(layer, segment[0], t, head / 2, d);
        }
        for (size_t d = 0; d < kHeadDim; ++d) {
          // Values are about 2 at most; p carries the error of its score, and sums that of 512
          // terms.
          EXPECT_NEAR(got[query + d], exact[d] / sum,
                      2.01 * (512 + 8 + kHeadDim * largest) * kUnit);
        }
      }
    }
  }
}

}  // namespace
}  // namespace mummu::reference
