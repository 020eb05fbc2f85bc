#include <algorithm>

#include "device/reference/reference_ops.h"
#include "device/reference/weight_row.h"

namespace mummu::reference {
namespace {

void write(const MatmulOut& out, int64_t token, int64_t row, float y) {
  if (out.bias.data != nullptr) y = y + out.bias.as<float>()[row];
  float& to = out.out.slice(token, 1).as<float>()[row];
  to = out.add ? to + y : y;
}

}  // namespace

void ReferenceOps::matmul(View x, std::span<const MatmulOut> outs) {
  const auto has_blocks = [](const MatmulOut& out) { return is_quantised(out.weight->type()); };
  if (std::any_of(outs.begin(), outs.end(), has_blocks)) quantise_rows(x);
  for (const MatmulOut& out : outs) {
    const int64_t rows = out.weight->rows();
    parallel_.for_each((rows + kRowsAtOnce - 1) / kRowsAtOnce, [&](int64_t piece) {
      const int64_t row = piece * kRowsAtOnce;
      for (int64_t t = 0; t < x.rows; ++t) {
        const float* input = x.slice(t, 1).as<float>();
        const Products done = products(*out.weight, row, input, quantised_row(t));
        for (int64_t r = 0; r < done.count; ++r) write(out, t, row + r, done.y[r]);
      }
    });
  }
}

void ReferenceOps::quantise_rows(View x) {
  for (int64_t t = 0; t < x.rows; ++t) {
    quantise(x.slice(t, 1).as<float>(), x.columns, quantised_row(t));
  }
}

QuantisedRow ReferenceOps::quantised_row(int64_t token) const {
  return {quantised_.rows(token, 1).as<int8_t>(), scale_.rows(token, 1).as<float>(),
          sum_.rows(token, 1).as<float>()};
}

}  // namespace mummu::reference
