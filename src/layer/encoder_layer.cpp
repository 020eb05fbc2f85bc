#include "layer/encoder_layer.h"

#include <array>
#include <cmath>

namespace mummu {

KvLayer EncoderLayer::pages(View pool) const {
  return {.pool = pool, .type = DType::f32, .kv_heads = heads, .head_dim = head_dim};
}

void EncoderLayer::attend(const EncoderStep& step, View x) const {
  const View q = Scratch::matrix(step.scratch.query, step.tokens, heads * head_dim);
  const View k = Scratch::matrix(step.scratch.key, step.tokens, heads * head_dim);
  const View v = Scratch::matrix(step.scratch.value, step.tokens, heads * head_dim);
  const View mixed = Scratch::matrix(step.scratch.mixed, step.tokens, heads * head_dim);
  step.ops.matmul(
      x, std::array{MatmulOut{&query, query_bias.view(), q}, MatmulOut{&key, key_bias.view(), k},
                    MatmulOut{&value, value_bias.view(), v}});
  const KvLayer layer = pages(step.pool);
  step.ops.kv_write(k, v, layer, step.sequences);
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_dim)));
  step.ops.attention(q, heads, scale, layer, step.sequences, mixed);
  step.ops.matmul(mixed, std::array{MatmulOut{&output, output_bias.view(), x, true}});
}

void EncoderLayer::feed_forward(const EncoderStep& step, View x) const {
  const View inner = Scratch::matrix(step.scratch.ffn, step.tokens, up.rows());
  step.ops.matmul(x, std::array{MatmulOut{&up, up_bias.view(), inner}});
  step.ops.gelu(inner, inner);
  step.ops.matmul(inner, std::array{MatmulOut{&down, down_bias.view(), x, true}});
}

void EncoderLayer::run(const EncoderStep& step, View x) const {
  attend(step, x);
  attention_norm.run(step.ops, x, x);
  feed_forward(step, x);
  ffn_norm.run(step.ops, x, x);
}

ScratchSize EncoderLayer::scratch() const {
  const int64_t columns = heads * head_dim;
  return {.query = columns, .key = columns, .value = columns, .mixed = columns, .ffn = up.rows()};
}

}  // namespace mummu
