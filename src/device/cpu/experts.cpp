// Experts: the tokens of one expert are brought together and pass through its weights as one
// matrix, experts in ascending order, so that every token adds up its own in that order too.

#include <cstring>

#include "device/cpu/cpu_ops.h"

namespace mummu::cpu {
namespace {

// The tokens that chose one expert: calls work(i, token, share) for the i-th of them.
template <typename Work>
int64_t for_tokens(View chosen, View share, int32_t expert, Work&& work) {
  int64_t count = 0;
  for (int64_t t = 0; t < chosen.rows; ++t) {
    const int32_t* row = chosen.as<int32_t>() + t * chosen.columns;
    for (int64_t n = 0; n < chosen.columns; ++n) {
      if (row[n] == expert) work(count++, t, share.as<float>()[t * chosen.columns + n]);
    }
  }
  return count;
}

}  // namespace

void CpuOps::experts(View x, const Experts& experts, View chosen, View share, View out) {
  std::memset(experts.sum.data, 0, static_cast<size_t>(experts.sum.bytes()));
  for (size_t e = 0; e < experts.gate.size(); ++e) {
    const auto expert = static_cast<int32_t>(e);
    const int64_t count = for_tokens(chosen, share, expert, [&](int64_t i, int64_t token, float) {
      std::memcpy(experts.rows.slice(i, 1).data, x.slice(token, 1).data,
                  static_cast<size_t>(x.row_bytes()));
    });
    if (count == 0) continue;
    const View inner = experts.inner.slice(0, count);
    const View result = experts.result.slice(0, count);
    gated(experts.rows.slice(0, count), experts.gate[e], experts.up[e], inner);
    const MatmulOut down{.weight = &experts.down[e], .bias = {}, .out = result};
    matmul(inner, {&down, 1});
    for_tokens(chosen, share, expert, [&](int64_t i, int64_t token, float part) {
      kernels_.add_product(part, result.slice(i, 1).as<float>(), x.columns,
                           experts.sum.slice(token, 1).as<float>());
    });
  }
  add(experts.sum, out);
}

}  // namespace mummu::cpu
