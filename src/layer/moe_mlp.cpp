#include "layer/moe_mlp.h"

#include <array>

namespace mummu {

void MoeMlp::run(const Step& step, View x, View residual) const {
  const Scratch& scratch = step.scratch;
  const auto count = static_cast<int64_t>(gate.size());
  const int64_t hidden = x.columns;

  // One buffer holds scores, choices and shares, one after another.
  const View scores = Scratch::matrix(scratch.route, step.tokens, count);
  auto* after_scores = scores.as<float>() + step.tokens * count;
  const View chosen{after_scores, DType::i32, step.tokens, top_k};
  const View share{after_scores + step.tokens * top_k, DType::f32, step.tokens, top_k};
  step.ops.matmul(x, std::array{MatmulOut{&router, {}, scores}});
  step.ops.route(scores, normalise, chosen, share);

  const Experts experts{.gate = gate,
                        .up = up,
                        .down = down,
                        .rows = Scratch::matrix(scratch.query, step.tokens, hidden),
                        .result = Scratch::matrix(scratch.mixed, step.tokens, hidden),
                        .sum = Scratch::matrix(scratch.key, step.tokens, hidden),
                        .inner = Scratch::matrix(scratch.ffn, step.tokens, gate[0].rows())};
  step.ops.experts(x, experts, chosen, share, residual);
}

ScratchSize MoeMlp::scratch() const {
  const int64_t hidden = router.columns();
  return {.query = hidden,
          .key = hidden,
          .mixed = hidden,
          .ffn = gate[0].rows(),
          .route = router.rows() + 2 * top_k};
}

}  // namespace mummu
