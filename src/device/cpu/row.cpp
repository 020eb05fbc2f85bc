// The ops that work on every row or element by itself: norms, gelu, add, route.

#include "device/cpu/cpu_ops.h"

namespace mummu::cpu {

void CpuOps::layer_norm(View x, View weight, View bias, float eps, View out) {
  const double cost = 0.3 * static_cast<double>(x.rows * x.columns);
  schedule_.run(x.rows, cost, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) {
      kernels_.layer_norm(x.as<float>() + t * x.columns, weight.as<float>(), bias.as<float>(),
                          x.columns, eps, out.as<float>() + t * x.columns);
    }
  });
}

void CpuOps::l2_norm(View x, View out) {
  const double cost = 0.3 * static_cast<double>(x.rows * x.columns);
  schedule_.run(x.rows, cost, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) {
      kernels_.l2_norm(x.as<float>() + t * x.columns, x.columns, out.as<float>() + t * x.columns);
    }
  });
}

void CpuOps::gelu(View x, View out) {
  const double cost = 1.0 * static_cast<double>(x.rows * x.columns);
  schedule_.run(x.rows, cost, [&](int64_t first, int64_t last) {
    kernels_.gelu(x.as<float>() + first * x.columns, (last - first) * x.columns,
                  out.as<float>() + first * x.columns);
  });
}

void CpuOps::add(View x, View out) {
  const double cost = 0.1 * static_cast<double>(x.rows * x.columns);
  schedule_.run(x.rows, cost, [&](int64_t first, int64_t last) {
    kernels_.add(x.as<float>() + first * x.columns, (last - first) * x.columns,
                 out.as<float>() + first * x.columns);
  });
}

void CpuOps::route(View scores, bool normalise, View chosen, View share) {
  const double cost = 2.0 * static_cast<double>(scores.rows * scores.columns * chosen.columns);
  schedule_.run(scores.rows, cost, [&](int64_t first, int64_t last) {
    for (int64_t t = first; t < last; ++t) {
      kernels_.route({.scores = scores.slice(t, 1).as<float>(),
                      .experts = scores.columns,
                      .top_k = chosen.columns,
                      .normalise = normalise,
                      .chosen = chosen.slice(t, 1).as<int32_t>(),
                      .share = share.slice(t, 1).as<float>()});
    }
  });
}

}  // namespace mummu::cpu
