#include "model/encoder.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "model/scratch.h"

namespace mummu {

namespace {

View first(const Tensor& row, int64_t count) {
  return {row.view().data, row.view().type, 1, count};
}

int64_t pages_of(int64_t tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }

}  // namespace

Result<EncoderState> Encoder::make_state(Ops& ops, int64_t tokens, int64_t sequences) const {
  const int64_t pages = tokens / kPageTokens + sequences;
  const ScratchSize columns = layers.front().scratch();
  EncoderState state;
  state.tokens = tokens;
  MUMMU_TRY(state.pool, ops.make(DType::u8, pages, layers.front().pages({}).bytes()));
  MUMMU_TRY(state.ids, ops.make(DType::i32, 1, tokens));
  MUMMU_TRY(state.positions, ops.make(DType::i32, 1, tokens));
  MUMMU_TRY(state.none, ops.make(DType::i32, 1, tokens));
  MUMMU_TRY(state.x, ops.make(DType::f32, tokens, hidden));
  MUMMU_TRY(state.other, ops.make(DType::f32, tokens, hidden));
  MUMMU_TRY(state.scratch, make_scratch(ops, tokens, columns));
  MUMMU_TRY(ops.reserve(tokens, std::max({hidden, columns.mixed, columns.ffn})));
  state.pages.resize(static_cast<size_t>(pages));
  std::iota(state.pages.begin(), state.pages.end(), 0);
  state.row_positions.reserve(static_cast<size_t>(tokens));
  state.sequences.reserve(static_cast<size_t>(sequences));
  state.pooled.reserve(static_cast<size_t>(sequences));
  return state;
}

void Encoder::plan_step(EncoderState& state, std::span<const int64_t> lengths) const {
  state.sequences.clear();
  state.pooled.clear();
  state.row_positions.clear();
  int64_t row = 0;
  size_t page = 0;
  for (int64_t length : lengths) {
    const auto count = static_cast<size_t>(pages_of(length));
    const auto pages = std::span<const int32_t>(state.pages).subspan(page, count);
    state.pooled.push_back(
        {.first_row = row, .tokens = length, .out_row = std::ssize(state.pooled)});
    state.sequences.push_back(
        {.first_row = row, .tokens = length, .position = 0, .pages = pages, .both_ways = true});
    for (int64_t i = 0; i < length; ++i) state.row_positions.push_back(static_cast<int32_t>(i));
    row += length;
    page += count;
  }
}

Result<void> Encoder::run(Ops& ops, EncoderState& state, std::span<const TokenId> ids,
                          std::span<const int64_t> lengths, Pool how, View out) const {
  return run(ops, state, ids, lengths, how, out, nullptr, nullptr);
}

Result<void> Encoder::run(Ops& ops, EncoderState& state, std::span<const TokenId> ids,
                          std::span<const int64_t> lengths, Pool how, View out, Watch watch,
                          void* context) const {
  const auto tokens = static_cast<int64_t>(ids.size());
  assert(tokens <= state.tokens && out.columns == hidden);
  if (tokens == 0) return {};
  plan_step(state, lengths);
  ops.upload(ids.data(), first(state.ids, tokens));
  ops.upload(state.row_positions.data(), first(state.positions, tokens));

  const View x = state.x.rows(0, tokens);
  const EncoderStep step{.ops = ops,
                         .tokens = tokens,
                         .sequences = state.sequences,
                         .pool = state.pool.view(),
                         .scratch = state.scratch};
  ops.start();
  embed(ops, state, x);
  if (watch) watch(context, 0, x);
  int64_t number = 0;
  for (const EncoderLayer& layer : layers) {
    layer.run(step, x);
    if (watch) watch(context, ++number, x);
  }
  ops.pool(x, how, state.pooled, out);
  return ops.finish();
}

void Encoder::embed(Ops& ops, const EncoderState& state, View x) const {
  const View other = state.other.rows(0, x.rows);
  ops.embedding(words, first(state.ids, x.rows), x);
  ops.embedding(types, first(state.none, x.rows), other);
  ops.add(other, x);
  ops.embedding(positions, first(state.positions, x.rows), other);
  ops.add(other, x);
  embedding_norm.run(ops, x, x);
}

}  // namespace mummu
