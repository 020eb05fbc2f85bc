// The check layer: a call that device/ops.h forbids is an internal error of finish(), the op is
// skipped, and the next step works.

#include "device/check.h"

#include <gtest/gtest.h>

#include "device/test/bed.h"

namespace mummu {
namespace {

class Check : public testing::Test {
 protected:
  Check() : device_(*open_device("cpu")), bed_(device_.ops()) {
    bed_.reserve(8, 64);
    x_ = bed_.floats(4, 64, test::Numbers(1).values(256));
    y_ = bed_.blank(4, 64);
    spare_ = bed_.blank(4, 64);
    row_ = bed_.floats(1, 64, test::Numbers(2).values(64));
    layer_.kv_heads = 1;
    layer_.head_dim = 64;
    layer_.pool = bed_.bytes(2, layer_.bytes(),
                             std::vector<std::byte>(static_cast<size_t>(2 * layer_.bytes())));
  }

  Ops& ops() { return device_.ops(); }

  // Runs a step with a forbidden call; its error names `words`, nothing is written, the next works.
  template <typename Call>
  void expect_violation(const char* words, Call&& call) {
    const std::vector<float> before = bed_.read(y_);
    ops().start();
    call();
    const auto finished = ops().finish();
    ASSERT_FALSE(finished) << words;
    EXPECT_EQ(finished.error().code, Error::Code::internal);
    EXPECT_NE(finished.error().message.find(words), std::string::npos) << finished.error().message;
    EXPECT_EQ(bed_.read(y_), before);
    ops().start();
    ops().rms_norm(x_, row_, 1e-5F, spare_);
    EXPECT_TRUE(ops().finish());
  }

  void expect_bad_segment(const char* words, Segment segment) {
    expect_violation(words, [&] { ops().kv_write(x_, x_, layer_, {&segment, 1}); });
    expect_violation(words, [&] { ops().attention(x_, 1, 0.1F, layer_, {&segment, 1}, y_); });
  }

  Device device_;
  test::Bed bed_;
  View x_, y_, spare_, row_;
  KvLayer layer_;
};

TEST_F(Check, shapes_and_types_are_verified) {
  const View short_row = bed_.blank(1, 63);
  expect_violation("rms_norm: weight", [&] { ops().rms_norm(x_, short_row, 1e-5F, y_); });
  expect_violation("rms_norm: out", [&] { ops().rms_norm(x_, row_, 1e-5F, y_.slice(0, 3)); });
  expect_violation("rms_norm: x",
                   [&] { ops().rms_norm({nullptr, DType::f32, 4, 64}, row_, 0, y_); });
  const View numbers = bed_.ints({0, 1, 2, 3});
  expect_violation("gather: x", [&] { ops().gather(numbers, numbers, y_); });
}

TEST_F(Check, ids_rows_and_positions_stay_in_their_tables) {
  const Weight& table = bed_.weight(DType::f32, 5, 64, 3);
  const View too_high = bed_.ints({0, 1, 5, 2});
  const View negative = bed_.ints({0, -1, 3, 2});
  expect_violation("embedding: an id", [&] { ops().embedding(table, too_high, y_); });
  expect_violation("embedding: an id", [&] { ops().embedding(table, negative, y_); });
  expect_violation("gather: a row", [&] { ops().gather(x_, too_high, y_); });
  const View cos_sin = bed_.blank(3, 64);
  expect_violation("rope: a position", [&] { ops().rope(y_, 1, too_high, cos_sin); });
  expect_violation("rope: cos_sin", [&] { ops().rope(y_, 2, negative, cos_sin); });
}

TEST_F(Check, matmuls_fit_their_weights_and_what_was_reserved) {
  const Weight& weight = bed_.weight(DType::q8_0, 64, 64, 4);
  const Weight& narrow = bed_.weight(DType::q8_0, 64, 32, 5);
  const auto matmul = [&](View x, MatmulOut out) { ops().matmul(x, {&out, 1}); };
  expect_violation("matmul: no weight", [&] { matmul(x_, {.bias = {}, .out = y_}); });
  expect_violation("different columns",
                   [&] { matmul(x_, {.weight = &narrow, .bias = {}, .out = y_}); });
  expect_violation("matmul: out",
                   [&] { matmul(x_, {.weight = &weight, .bias = {}, .out = x_.slice(0, 2)}); });
  expect_violation("matmul: bias", [&] { matmul(x_, {.weight = &weight, .bias = x_, .out = y_}); });
  const View many = bed_.blank(9, 64);
  const View many_out = bed_.blank(9, 64);
  expect_violation("reserve",
                   [&] { matmul(many, {.weight = &weight, .bias = {}, .out = many_out}); });
  expect_violation("gated: x and a weight", [&] { ops().gated(x_, weight, narrow, y_); });
}

TEST_F(Check, segments_stay_in_rows_and_pages) {
  const int32_t good[] = {0, 1};
  const int32_t beyond[] = {0, 2};
  const int32_t negative[] = {-1, 1};
  expect_bad_segment("rows beyond", {2, 3, 0, good});
  expect_bad_segment("too few pages", {0, 4, 29, good});
  expect_bad_segment("a page that", {0, 4, 14, beyond});
  expect_bad_segment("a page that", {0, 4, 0, negative});
  expect_bad_segment("negative", {0, 4, -1, good});
  layer_.layer_offset_bytes = 2;
  expect_bad_segment("beyond the page", {0, 4, 0, good});
}

TEST_F(Check, pooled_runs_stay_in_rows_and_results) {
  const View out = bed_.blank(2, 64);
  const auto pool = [&](PoolRun run) { ops().pool(x_, Pool::mean, {&run, 1}, out); };
  expect_violation("pool: rows beyond", [&] { pool({.first_row = 2, .tokens = 3}); });
  expect_violation("pool: a run of no rows", [&] { pool({.first_row = 2}); });
  expect_violation("pool: a result", [&] { pool({.tokens = 1, .out_row = 2}); });
  const View narrow = bed_.blank(2, 63);
  expect_violation("pool: out", [&] { ops().pool(x_, Pool::mean, {}, narrow); });
  expect_violation("l2_norm", [&] { ops().l2_norm(x_, out); });
}

TEST_F(Check, heads_divide) {
  const int32_t page[] = {0};
  const Segment segment{0, 4, 0, page};
  layer_.kv_heads = 2;
  layer_.head_dim = 32;
  expect_violation("attention: heads",
                   [&] { ops().attention(x_, 3, 0.1F, layer_, {&segment, 1}, y_); });
  const View positions = bed_.ints({0, 0, 0, 0});
  expect_violation("rope: x", [&] { ops().rope(y_, 3, positions, row_); });
}

TEST_F(Check, ops_and_copies_have_their_time) {
  ops().rms_norm(x_, row_, 1e-5F, y_);
  expect_violation("outside a step", [] {});
  expect_violation("upload or download", [&] { ops().upload(nullptr, y_); });
  expect_violation("start", [&] { ops().start(); });
  EXPECT_EQ(ops().finish().error().code, Error::internal);
}

TEST_F(Check, the_first_violation_is_the_one_that_is_told) {
  expect_violation("rms_norm: weight", [&] {
    ops().rms_norm(x_, y_, 1e-5F, y_);
    ops().gather(x_, x_, y_);
  });
}

}  // namespace
}  // namespace mummu
