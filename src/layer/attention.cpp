#include "layer/attention.h"

#include <array>
#include <cmath>

namespace mummu {

namespace {

// The same floats, one head a row.
View by_head(View rows, int64_t head_dim) {
  return {rows.data, rows.type, rows.rows * rows.columns / head_dim, head_dim};
}

}  // namespace

void Attention::normalise(const Step& step, View query_rows, View key_rows) const {
  if (norm == QueryKeyNorm::none) return;
  if (norm == QueryKeyNorm::head) {
    query_rows = by_head(query_rows, head_dim);
    key_rows = by_head(key_rows, head_dim);
  }
  query_norm.run(step.ops, query_rows, query_rows);
  key_norm.run(step.ops, key_rows, key_rows);
}

void Attention::run(const Step& step, View x, View residual) const {
  const int64_t kv_columns = kv_heads * head_dim;
  const View q = Scratch::matrix(step.scratch.query, step.tokens, heads * head_dim);
  const View k = Scratch::matrix(step.scratch.key, step.tokens, kv_columns);
  const View v = Scratch::matrix(step.scratch.value, step.tokens, kv_columns);
  const View mixed = Scratch::matrix(step.scratch.mixed, step.tokens, heads * head_dim);

  step.ops.matmul(
      x, std::array{MatmulOut{&query, query_bias.view(), q}, MatmulOut{&key, key_bias.view(), k},
                    MatmulOut{&value, value_bias.view(), v}});
  normalise(step, q, k);
  step.ops.rope(q, heads, step.positions, step.cos_sin);
  step.ops.rope(k, kv_heads, step.positions, step.cos_sin);

  const KvLayer layer{.pool = step.pool,
                      .type = step.kv,
                      .layer_offset_bytes = step.page_offset_bytes,
                      .kv_heads = kv_heads,
                      .head_dim = head_dim};
  step.ops.kv_write(k, v, layer, step.segments);
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_dim)));
  step.ops.attention(q, heads, scale, layer, step.segments, mixed);
  step.ops.matmul(mixed, std::array{MatmulOut{&output, output_bias.view(), residual, true}});
}

int64_t Attention::page_bytes(DType kv) const {
  return KvLayer{.pool = {}, .type = kv, .kv_heads = kv_heads, .head_dim = head_dim}.bytes();
}

ScratchSize Attention::scratch() const {
  return {.query = heads * head_dim,
          .key = kv_heads * head_dim,
          .value = kv_heads * head_dim,
          .mixed = heads * head_dim};
}

}  // namespace mummu
