// Pooling: whole rows are added, weighed or compared, one sequence a unit of work; a column's order
// is that of the rows.

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/cpu/cpu_ops.h"

namespace mummu::cpu {
namespace {

void begin(Pool how, int64_t columns, float* out) {
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  std::fill_n(out, columns, how == Pool::largest ? kLeast : 0.0F);
}

void keep_largest(const float* x, int64_t columns, float* out) {
  for (int64_t i = 0; i < columns; ++i) out[i] = x[i] > out[i] ? x[i] : out[i];
}

// What a finished sum of `tokens` rows is divided by.
float divisor(Pool how, int64_t tokens) {
  if (how == Pool::mean) return static_cast<float>(tokens);
  if (how == Pool::mean_sqrt) return std::sqrt(static_cast<float>(tokens));
  const int64_t weights = tokens * (tokens + 1) / 2;
  if (how == Pool::weighted_mean) return static_cast<float>(weights);
  return 1.0F;
}

void take(const Kernels& kernels, Pool how, const float* x, int64_t position, int64_t columns,
          float* out) {
  switch (how) {
    case Pool::first:
      if (position == 0) std::copy_n(x, columns, out);
      break;
    case Pool::last:
      std::copy_n(x, columns, out);
      break;
    case Pool::largest:
      keep_largest(x, columns, out);
      break;
    case Pool::weighted_mean:
      kernels.add_product(static_cast<float>(position + 1), x, columns, out);
      break;
    default:
      kernels.add(x, columns, out);
  }
}

}  // namespace

void CpuOps::pool(View x, Pool how, std::span<const PoolRun> runs, View out) {
  const double cost = 0.1 * static_cast<double>(x.rows * x.columns);
  schedule_.run(static_cast<int64_t>(runs.size()), cost, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const PoolRun& run = runs[static_cast<size_t>(i)];
      float* to = out.slice(run.out_row, 1).as<float>();
      if (run.position == 0) begin(how, x.columns, to);
      for (int64_t t = 0; t < run.tokens; ++t) {
        const float* row = x.slice(run.first_row + t, 1).as<float>();
        take(kernels_, how, row, run.position + t, x.columns, to);
      }
      const float by = divisor(how, run.position + run.tokens);
      if (!run.ends || by == 1.0F) continue;
      for (int64_t c = 0; c < x.columns; ++c) to[c] = to[c] / by;
    }
  });
}

}  // namespace mummu::cpu
