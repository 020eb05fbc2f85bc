#include <cmath>
#include <limits>

#include "device/reference/reference_ops.h"

namespace mummu::reference {
namespace {

float first_value(Pool how) {
  return how == Pool::largest ? -std::numeric_limits<float>::infinity() : 0.0F;
}

float next_value(Pool how, float y, float x, int64_t position) {
  switch (how) {
    case Pool::first:
      return position == 0 ? x : y;
    case Pool::last:
      return x;
    case Pool::largest:
      return x > y ? x : y;
    case Pool::weighted_mean:
      return std::fma(static_cast<float>(position + 1), x, y);
    default:
      return y + x;
  }
}

float last_value(Pool how, float y, int64_t tokens) {
  if (how == Pool::mean) return y / static_cast<float>(tokens);
  if (how == Pool::mean_sqrt) return y / std::sqrt(static_cast<float>(tokens));
  const int64_t weights = tokens * (tokens + 1) / 2;
  if (how == Pool::weighted_mean) return y / static_cast<float>(weights);
  return y;
}

}  // namespace

void ReferenceOps::pool(View x, Pool how, std::span<const PoolRun> runs, View out) {
  for (const PoolRun& run : runs) {
    float* to = out.slice(run.out_row, 1).as<float>();
    for (int64_t c = 0; c < x.columns; ++c) {
      float y = run.position == 0 ? first_value(how) : to[c];
      for (int64_t t = 0; t < run.tokens; ++t) {
        const float* row = x.slice(run.first_row + t, 1).as<float>();
        y = next_value(how, y, row[c], run.position + t);
      }
      to[c] = run.ends ? last_value(how, y, run.position + run.tokens) : y;
    }
  }
}

}  // namespace mummu::reference
