#include <cmath>
#include <limits>

#include "device/reference/reference_ops.h"
#include "device/reference/scalar.h"

namespace mummu::reference {
namespace {

// The order in which experts are preferred: a NaN is below every number.
bool before(float a, float b) { return std::isnan(b) ? !std::isnan(a) : a > b; }

// How many of the others come first.
int64_t rank(const float* p, int64_t experts, int64_t e) {
  int64_t better = 0;
  for (int64_t other = 0; other < experts; ++other) {
    const bool tie = !before(p[other], p[e]) && !before(p[e], p[other]);
    if (before(p[other], p[e]) || (tie && other < e)) ++better;
  }
  return better;
}

// Turns scores into probabilities.
void softmax(float* p, int64_t experts) {
  float m = -std::numeric_limits<float>::infinity();
  for (int64_t e = 0; e < experts; ++e) m = p[e] > m ? p[e] : m;
  Lanes sum;
  for (int64_t e = 0; e < experts; ++e) {
    p[e] = exp(p[e] - m);
    sum.lane[e % 16] += p[e];
  }
  const float total = sum.total();
  for (int64_t e = 0; e < experts; ++e) p[e] = p[e] / total;
}

}  // namespace

void ReferenceOps::route(View scores, bool normalise, View chosen, View share) {
  for (int64_t t = 0; t < scores.rows; ++t) {
    float* p = scores.slice(t, 1).as<float>();
    int32_t* to = chosen.slice(t, 1).as<int32_t>();
    float* part = share.slice(t, 1).as<float>();
    softmax(p, scores.columns);
    int64_t n = 0;
    for (int64_t e = 0; e < scores.columns; ++e) {
      if (rank(p, scores.columns, e) >= chosen.columns) continue;
      to[n] = static_cast<int32_t>(e);
      part[n++] = p[e];
    }
    float sum = 0.0F;
    for (int64_t i = 0; i < n; ++i) sum = sum + part[i];
    for (int64_t i = 0; normalise && i < n; ++i) part[i] = part[i] / sum;
  }
}

}  // namespace mummu::reference
