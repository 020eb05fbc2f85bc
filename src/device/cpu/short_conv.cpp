// Gated short convolution: channels are handed out, 16 at a time.

#include <algorithm>

#include "device/cpu/cpu_ops.h"

namespace mummu::cpu {

void CpuOps::short_conv(View bcx, View kernel, View bias, const ConvLayer& layer,
                        std::span<const Segment> segments, View out) {
  constexpr int64_t kChannels = 16;
  const int64_t units = (layer.hidden + kChannels - 1) / kChannels;
  const double cost =
      0.2 * static_cast<double>(bcx.rows * layer.hidden) * static_cast<double>(layer.length + 1);
  schedule_.run(units, cost, [&](int64_t first, int64_t last) {
    const int64_t begin = first * kChannels;
    for (const Segment& segment : segments) {
      kernels_.short_conv({.bcx = bcx.as<float>() + segment.first_row * bcx.columns,
                           .kernel = kernel.as<float>(),
                           .bias = bias.data == nullptr ? nullptr : bias.as<float>(),
                           .out = out.as<float>() + segment.first_row * out.columns,
                           .tokens = segment.tokens,
                           .hidden = layer.hidden,
                           .length = layer.length,
                           .position = segment.position,
                           .page_state = layer.pool.as<std::byte>() + layer.layer_offset_bytes,
                           .page_bytes = layer.pool.columns,
                           .pages = segment.pages.data(),
                           .first_channel = begin,
                           .channels = std::min(last * kChannels, layer.hidden) - begin});
    }
  });
}

}  // namespace mummu::cpu
