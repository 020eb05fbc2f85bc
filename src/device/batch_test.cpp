// A row alone gives the bits that it gives among others: what continuous batching rests on.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "device/machine.h"
#include "device/test/compare.h"
#include "device/test/scenario.h"

namespace mummu::test {
namespace {

constexpr int64_t kTokens = 45, kColumns = 256, kRows = 53;

class Batch : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!cpu_has(GetParam())) GTEST_SKIP() << "skipped: this CPU lacks the instruction set";
    auto device = open_device("cpu", {.parallel = Threads(2), .isa = GetParam()});
    ASSERT_TRUE(device) << device.error().message;
    device_.emplace(*std::move(device));
    bed_.emplace(device_->ops());
    bed_->reserve(kTokens, kColumns);
    x_ = bed_->floats(kTokens, kColumns, Numbers(1).values(kTokens * kColumns));
  }

  Ops& ops() { return device_->ops(); }

  // op(x rows, out rows) over the whole batch, over single rows, and over runs of 7.
  template <typename Op>
  void expect_the_same_in_any_company(int64_t out_columns, Op&& op) {
    const View together = bed_->blank(kTokens, out_columns);
    const View alone = bed_->blank(kTokens, out_columns);
    const View sevens = bed_->blank(kTokens, out_columns);
    bed_->step([&] {
      op(x_, together);
      for (int64_t i = 0; i < kTokens; ++i) op(x_.slice(i, 1), alone.slice(i, 1));
      for (int64_t i = 0; i < kTokens; i += 7) {
        const int64_t count = std::min<int64_t>(7, kTokens - i);
        op(x_.slice(i, count), sevens.slice(i, count));
      }
    });
    EXPECT_TRUE(same_bits(bed_->read(together), bed_->read(alone)));
    EXPECT_TRUE(same_bits(bed_->read(together), bed_->read(sevens)));
  }

  std::optional<Device> device_;
  std::optional<Bed> bed_;
  View x_;
};

TEST_P(Batch, matmul_gives_a_row_the_same_bits_in_any_company) {
  for (DType type : kWeightTypes) {
    SCOPED_TRACE(name(type));
    const Weight& weight = bed_->weight(type, kRows, kColumns, 2);
    expect_the_same_in_any_company(kRows, [&](View x, View out) {
      const MatmulOut to[] = {{.weight = &weight, .bias = {}, .out = out}};
      ops().matmul(x, to);
    });
  }
}

TEST_P(Batch, gated_gives_a_row_the_same_bits_in_any_company) {
  for (DType type : kWeightTypes) {
    SCOPED_TRACE(name(type));
    const Weight& gate = bed_->weight(type, kRows, kColumns, 3);
    const Weight& up = bed_->weight(type, kRows, kColumns, 4);
    expect_the_same_in_any_company(kRows, [&](View x, View out) { ops().gated(x, gate, up, out); });
  }
}

TEST_P(Batch, rms_norm_gives_a_row_the_same_bits_in_any_company) {
  const View weight = bed_->floats(1, kColumns, Numbers(5).values(kColumns));
  expect_the_same_in_any_company(kColumns,
                                 [&](View x, View out) { ops().rms_norm(x, weight, 1e-5F, out); });
}

// Three sequences, in one step together or one after another, whole or in chunks.
TEST_P(Batch, attention_gives_a_sequence_the_same_bits_in_any_company) {
  constexpr int64_t kHeads = 6, kKvHeads = 2, kHeadDim = 40, kEach = 15;
  const int32_t pages[3][1] = {{2}, {0}, {1}};
  KvLayer layer;
  layer.kv_heads = kKvHeads;
  layer.head_dim = kHeadDim;
  layer.pool =
      bed_->bytes(3, layer.bytes(), std::vector<std::byte>(static_cast<size_t>(3 * layer.bytes())));
  const auto input = [&](uint64_t seed, int64_t columns) {
    return bed_->floats(kTokens, columns, Numbers(seed).values(kTokens * columns));
  };
  const View q = input(6, kHeads * kHeadDim);
  const View k = input(7, kKvHeads * kHeadDim);
  const View v = input(8, kKvHeads * kHeadDim);
  const auto attend = [&](std::vector<Segment> segments, View out) {
    ops().kv_write(k, v, layer, segments);
    ops().attention(q, kHeads, 0.2F, layer, segments, out);
  };
  const View together = bed_->blank(kTokens, q.columns);
  const View chunks = bed_->blank(kTokens, q.columns);
  bed_->step([&] {
    attend({{0, kEach, 0, pages[0]}, {kEach, kEach, 0, pages[1]}, {2 * kEach, kEach, 0, pages[2]}},
           together);
    for (int64_t i = 0; i < 3; ++i) {
      const int64_t row = i * kEach;
      attend({{row, 4, 0, pages[i]}}, chunks);
      for (int64_t t = 4; t < 11; ++t) attend({{row + t, 1, t, pages[i]}}, chunks);
      attend({{row + 11, 4, 11, pages[i]}}, chunks);
    }
  });
  EXPECT_TRUE(same_bits(bed_->read(together), bed_->read(chunks)));
}

// A query that looks both ways sees what one at the last position does.
TEST_P(Batch, looking_both_ways_is_looking_back_from_the_end) {
  constexpr int64_t kHeads = 4, kHeadDim = 40;
  const int32_t pages[] = {2, 0, 1};
  KvLayer layer;
  layer.kv_heads = 2;
  layer.head_dim = kHeadDim;
  layer.pool =
      bed_->bytes(3, layer.bytes(), std::vector<std::byte>(static_cast<size_t>(3 * layer.bytes())));
  const View k = bed_->floats(kTokens, 2 * kHeadDim, Numbers(9).values(kTokens * 2 * kHeadDim));
  const View q =
      bed_->floats(kTokens, kHeads * kHeadDim, Numbers(1).values(kTokens * kHeads * kHeadDim));
  const View out = bed_->blank(kTokens, q.columns);
  const View back = bed_->blank(kTokens, q.columns);
  const Segment whole{0, kTokens, 0, pages, true};
  std::vector<Segment> single;
  for (int64_t i = 0; i < kTokens; ++i) single.push_back({i, 1, kTokens - 1, pages});
  bed_->step([&] {
    ops().kv_write(k, k, layer, {&whole, 1});
    ops().attention(q, kHeads, 0.2F, layer, {&whole, 1}, out);
    ops().attention(q, kHeads, 0.2F, layer, single, back);
  });
  EXPECT_TRUE(same_bits(bed_->read(out), bed_->read(back)));
}

std::string isa_word(const testing::TestParamInfo<Isa>& isa) {
  return isa.param == Isa::avx512 ? "avx512" : isa.param == Isa::avx2 ? "avx2" : "reference";
}

INSTANTIATE_TEST_SUITE_P(Isa, Batch, testing::Values(Isa::reference, Isa::avx2, Isa::avx512),
                         isa_word);

}  // namespace
}  // namespace mummu::test
