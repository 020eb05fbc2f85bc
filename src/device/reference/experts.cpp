#include <cmath>

#include "device/reference/reference_ops.h"

namespace mummu::reference {

void ReferenceOps::experts(View x, const Experts& experts, View chosen, View share, View out) {
  const View inner = experts.inner.slice(0, 1);
  const View result = experts.result.slice(0, 1);
  const View sum = experts.sum.slice(0, 1);
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t i = 0; i < x.columns; ++i) sum.as<float>()[i] = 0.0F;
    for (int64_t n = 0; n < chosen.columns; ++n) {
      const auto e = static_cast<size_t>(chosen.slice(t, 1).as<int32_t>()[n]);
      const float part = share.slice(t, 1).as<float>()[n];
      gated(x.slice(t, 1), experts.gate[e], experts.up[e], inner);
      const MatmulOut down{.weight = &experts.down[e], .bias = {}, .out = result};
      matmul(inner, {&down, 1});
      for (int64_t i = 0; i < x.columns; ++i) {
        sum.as<float>()[i] = std::fma(part, result.as<float>()[i], sum.as<float>()[i]);
      }
    }
    float* to = out.slice(t, 1).as<float>();
    for (int64_t i = 0; i < x.columns; ++i) to[i] = to[i] + sum.as<float>()[i];
  }
}

}  // namespace mummu::reference
