#include "device/reference/kv_page.h"
#include "device/reference/reference_ops.h"

namespace mummu::reference {
namespace {

void write_token(const float* k, const float* v, const KvLayer& layer, const Segment& segment,
                 int64_t position) {
  for (int64_t h = 0; h < layer.kv_heads; ++h) {
    key_at(layer, segment, position, h).store(k + h * layer.head_dim, layer.head_dim);
    value_at(layer, segment, position, h).store(v + h * layer.head_dim, layer.head_dim);
  }
}

}  // namespace

void ReferenceOps::kv_write(View k, View v, const KvLayer& layer,
                            std::span<const Segment> segments) {
  for (const Segment& segment : segments) {
    for (int64_t t = 0; t < segment.tokens; ++t) {
      const int64_t row = segment.first_row + t;
      write_token(k.slice(row, 1).as<float>(), v.slice(row, 1).as<float>(), layer, segment,
                  segment.position + t);
    }
  }
}

}  // namespace mummu::reference
