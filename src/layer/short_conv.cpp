#include "layer/short_conv.h"

#include <array>

namespace mummu {

void ShortConv::run(const Step& step, View x, View residual) const {
  const View bcx = Scratch::matrix(step.scratch.query, step.tokens, 3 * hidden);
  const View mixed = Scratch::matrix(step.scratch.mixed, step.tokens, hidden);
  const ConvLayer layer{.pool = step.pool,
                        .layer_offset_bytes = step.page_offset_bytes,
                        .length = length,
                        .hidden = hidden};
  step.ops.matmul(x, std::array{MatmulOut{&in, in_bias.view(), bcx}});
  step.ops.short_conv(bcx, kernel.view(), bias.view(), layer, step.segments, mixed);
  step.ops.matmul(mixed, std::array{MatmulOut{&out, out_bias.view(), residual, true}});
}

int64_t ShortConv::page_bytes(DType) const {
  return ConvLayer{.pool = {}, .length = length, .hidden = hidden}.bytes();
}

ScratchSize ShortConv::scratch() const { return {.query = 3 * hidden, .mixed = hidden}; }

}  // namespace mummu
