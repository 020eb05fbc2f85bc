#include "model/decoder.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include "base/checked.h"
#include "base/fail.h"
#include "model/scratch.h"

namespace mummu {

namespace {

// A vector of the first `count` numbers of a row tensor.
View first(const Tensor& row, size_t count) {
  const View all = row.view();
  return {all.data, all.type, 1, static_cast<int64_t>(count)};
}

bool stopped(const Batch& batch) {
  return batch.stop && batch.stop->load(std::memory_order_relaxed);
}

}  // namespace

int64_t Decoder::page_bytes(DType kv) const {
  int64_t bytes = 0;
  for (const DecoderLayer& layer : layers) bytes += layer.mixer->page_bytes(kv);
  return bytes;
}

ScratchSize Decoder::scratch_size() const {
  ScratchSize size;
  for (const DecoderLayer& layer : layers) {
    size.grow(layer.mixer->scratch());
    size.grow(layer.ffn->scratch());
  }
  return size;
}

Result<DecoderState> Decoder::make_state(Ops& ops, const DecoderSize& size) const {
  if (size.pages < 1 || size.tokens < 1 || size.wanted < 0)
    return fail(Error::invalid, "room for {} pages, {} tokens and {} rows of logits was asked for",
                size.pages, size.tokens, size.wanted);
  const int64_t page = page_bytes(size.kv);
  if (size.pages > std::numeric_limits<int32_t>::max() || !checked_mul(size.pages, page))
    return fail(Error::no_memory, "{} pages of {} bytes are more than can be addressed", size.pages,
                page);

  DecoderState state;
  state.size = size;
  state.positions = std::min(context_tokens, size.pages * kPageTokens);
  const ScratchSize columns = scratch_size();
  MUMMU_TRY(state.pool, ops.make(DType::u8, size.pages, page));
  MUMMU_TRY(state.cos_sin, ops.make(DType::f32, state.positions, rope.rotary_dim));
  MUMMU_TRY(state.ids, ops.make(DType::i32, 1, size.tokens));
  MUMMU_TRY(state.row_positions, ops.make(DType::i32, 1, size.tokens));
  MUMMU_TRY(state.residual, ops.make(DType::f32, size.tokens, hidden));
  MUMMU_TRY(state.normed, ops.make(DType::f32, size.tokens, hidden));
  MUMMU_TRY(state.scratch, make_scratch(ops, size.tokens, columns));
  if (size.wanted > 0) {
    MUMMU_TRY(state.wanted, ops.make(DType::i32, 1, size.wanted));
    MUMMU_TRY(state.picked, ops.make(DType::f32, size.wanted, hidden));
    MUMMU_TRY(state.logits, ops.make(DType::f32, size.wanted, vocab_rows));
  }
  state.page.resize(static_cast<size_t>(page));

  std::vector<float> table(static_cast<size_t>(state.positions * rope.rotary_dim));
  fill_rope_table(rope, state.positions, table.data());
  ops.upload(table.data(), state.cos_sin.view());
  MUMMU_TRY(ops.reserve(size.tokens, std::max({hidden, columns.mixed, columns.ffn})));
  return state;
}

Result<void> Decoder::run(Ops& ops, DecoderState& state, const Batch& batch,
                          std::span<float> logits) const {
  return run(ops, state, batch, logits, nullptr, nullptr);
}

void Decoder::upload(Ops& ops, DecoderState& state, const Batch& batch) const {
  ops.upload(batch.ids.data(), first(state.ids, batch.ids.size()));
  ops.upload(batch.positions.data(), first(state.row_positions, batch.positions.size()));
  if (!batch.wanted.empty())
    ops.upload(batch.wanted.data(), first(state.wanted, batch.wanted.size()));
}

View Decoder::run_layers(Ops& ops, DecoderState& state, const Batch& batch, Watch watch,
                         void* context) const {
  const auto rows = static_cast<int64_t>(batch.ids.size());
  const View residual = state.residual.rows(0, rows);
  const View normed = state.normed.rows(0, rows);
  Step step{.ops = ops,
            .tokens = rows,
            .positions = first(state.row_positions, batch.positions.size()),
            .cos_sin = state.cos_sin.view(),
            .segments = batch.segments,
            .pool = state.pool.view(),
            .kv = state.size.kv,
            .scratch = state.scratch};
  ops.embedding(embedding, first(state.ids, batch.ids.size()), residual);
  if (watch) watch(context, 0, residual);
  int64_t number = 0;
  for (const DecoderLayer& layer : layers) {
    if (stopped(batch)) break;
    layer.mixer_norm.run(ops, residual, normed);
    layer.mixer->run(step, normed, residual);
    layer.ffn_norm.run(ops, residual, normed);
    layer.ffn->run(step, normed, residual);
    step.page_offset_bytes += layer.mixer->page_bytes(state.size.kv);
    if (watch) watch(context, ++number, residual);
  }
  return residual;
}

Result<void> Decoder::run(Ops& ops, DecoderState& state, const Batch& batch,
                          std::span<float> logits, Watch watch, void* context) const {
  const auto wanted = static_cast<int64_t>(batch.wanted.size());
  assert(std::ssize(batch.ids) <= state.size.tokens && wanted <= state.size.wanted);
  assert(logits.size() >= static_cast<size_t>(wanted * vocab_rows));
  if (batch.ids.empty()) return {};
  upload(ops, state, batch);
  ops.start();
  const View residual = run_layers(ops, state, batch, watch, context);
  if (stopped(batch)) {
    MUMMU_TRY(ops.finish());
    return fail(Error::cancelled, "the step was stopped");
  }
  if (wanted > 0) {
    const View picked = state.picked.rows(0, wanted);
    ops.gather(residual, first(state.wanted, batch.wanted.size()), picked);
    final_norm.run(ops, picked, picked);
    ops.matmul(picked,
               std::array{MatmulOut{head ? &head : &embedding, {}, state.logits.rows(0, wanted)}});
  }
  MUMMU_TRY(ops.finish());
  if (wanted > 0) ops.download(state.logits.rows(0, wanted), logits.data());
  return {};
}

Result<void> Decoder::run_pooled(Ops& ops, DecoderState& state, const Batch& batch,
                                 const Pooling& pooling) const {
  assert(std::ssize(batch.ids) <= state.size.tokens && batch.wanted.empty());
  if (batch.ids.empty()) return {};
  upload(ops, state, batch);
  ops.start();
  const View residual = run_layers(ops, state, batch, nullptr, nullptr);
  const View normed = state.normed.rows(0, residual.rows);
  final_norm.run(ops, residual, normed);
  ops.pool(normed, pooling.how, pooling.runs, pooling.out);
  MUMMU_TRY(ops.finish());
  if (stopped(batch)) return fail(Error::cancelled, "the step was stopped");
  return {};
}

void Decoder::copy_page(Ops& ops, DecoderState& state, int32_t from, int32_t to) const {
  ops.download(state.pool.rows(from, 1), state.page.data());
  ops.upload(state.page.data(), state.pool.rows(to, 1));
}

}  // namespace mummu
