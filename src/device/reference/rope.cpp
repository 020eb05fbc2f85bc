#include <cmath>

#include "device/reference/reference_ops.h"

namespace mummu::reference {
namespace {

// One head's pair (a, b) by its angle.
void rotate(float& a, float& b, float cosine, float sine) {
  const float b_sine = b * sine;
  const float a_sine = a * sine;
  a = std::fma(a, cosine, -b_sine);
  b = std::fma(b, cosine, a_sine);
}

}  // namespace

void ReferenceOps::rope(View x, int64_t heads, View positions, View cos_sin) {
  const int64_t head_dim = x.columns / heads;
  const int64_t half = cos_sin.columns / 2;
  for (int64_t t = 0; t < x.rows; ++t) {
    const float* cosine = cos_sin.slice(positions.as<int32_t>()[t], 1).as<float>();
    const float* sine = cosine + half;
    for (int64_t h = 0; h < heads; ++h) {
      float* head = x.slice(t, 1).as<float>() + h * head_dim;
      for (int64_t i = 0; i < half; ++i) rotate(head[i], head[i + half], cosine[i], sine[i]);
    }
  }
}

}  // namespace mummu::reference
