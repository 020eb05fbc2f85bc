// Gated short convolution over some channels of one sequence; ops.h states the order.
//
// Vectors run across channels. What the pages remember is read before this step's products replace
// it: all outputs of 16 channels come first, then their state.

#include "device/cpu/kernel/ops.h"
#include "device/cpu/kernel/simd.h"

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

constexpr int64_t kPageTokens = 16;

MUMMU_INLINE float* state_row(const ConvRun& run, int64_t position) {
  std::byte* page = run.page_state + run.pages[position / kPageTokens] * run.page_bytes;
  const int64_t row = position % kPageTokens % (run.length - 1);
  return reinterpret_cast<float*>(page) + row * run.hidden;
}

// B * x of one position of this step.
MUMMU_INLINE f32x16 product(const ConvRun& run, int64_t position, int64_t c, int64_t n) {
  const float* row = run.bcx + (position - run.position) * 3 * run.hidden + c;
  return mul(load_first(row, n), load_first(row + 2 * run.hidden, n));
}

MUMMU_INLINE f32x16 output(const ConvRun& run, int64_t position, int64_t c, int64_t n) {
  f32x16 y = zero();
  for (int64_t j = 0; j < run.length; ++j) {
    const int64_t t = position - (run.length - 1) + j;
    if (t < 0) continue;
    const f32x16 u =
        t < run.position ? load_first(state_row(run, t) + c, n) : product(run, t, c, n);
    y = fma(load_first(run.kernel + j * run.hidden + c, n), u, y);
  }
  if (run.bias != nullptr) y = add(y, load_first(run.bias + c, n));
  const float* row = run.bcx + (position - run.position) * 3 * run.hidden + run.hidden + c;
  return mul(load_first(row, n), y);
}

}  // namespace

void short_conv(const ConvRun& run) {
  const int64_t end = run.position + run.tokens;
  const int64_t last = run.first_channel + run.channels;
  for (int64_t c = run.first_channel; c < last; c += 16) {
    const int64_t n = smaller(16, last - c);
    for (int64_t p = run.position; p < end; ++p) {
      store_first(run.out + (p - run.position) * run.hidden + c, output(run, p, c, n), n);
    }
    for (int64_t p = run.position; p < end; ++p) {
      store_first(state_row(run, p) + c, product(run, p, c, n), n);
    }
  }
}

}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
