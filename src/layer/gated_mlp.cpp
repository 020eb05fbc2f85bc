#include "layer/gated_mlp.h"

#include <array>

namespace mummu {

void GatedMlp::run(const Step& step, View x, View residual) const {
  const View inner = Scratch::matrix(step.scratch.ffn, step.tokens, gate.rows());
  step.ops.gated(x, gate, up, inner);
  step.ops.matmul(inner, std::array{MatmulOut{&down, {}, residual, true}});
}

ScratchSize GatedMlp::scratch() const { return {.ffn = gate.rows()}; }

}  // namespace mummu
