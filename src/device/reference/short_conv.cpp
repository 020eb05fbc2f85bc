#include <cmath>

#include "device/reference/reference_ops.h"

namespace mummu::reference {
namespace {

// The remembered products of one position (hidden).
float* state_row(const ConvLayer& layer, const Segment& segment, int64_t position) {
  const int64_t page = segment.pages[static_cast<size_t>(position / kPageTokens)];
  auto* bytes = layer.pool.slice(page, 1).as<char>() + layer.layer_offset_bytes;
  const int64_t row = position % kPageTokens % (layer.length - 1);
  return reinterpret_cast<float*>(bytes) + row * layer.hidden;
}

struct Channel {
  View bcx;
  const ConvLayer& layer;
  const Segment& segment;
  int64_t index;

  float gate_in(int64_t row) const { return bcx.slice(row, 1).as<float>()[index]; }
  float gate_out(int64_t row) const { return bcx.slice(row, 1).as<float>()[layer.hidden + index]; }

  int64_t row_of(int64_t position) const { return segment.first_row + position - segment.position; }

  // u[p]
  float product(int64_t position) const {
    if (position < segment.position) return state_row(layer, segment, position)[index];
    const int64_t row = row_of(position);
    return gate_in(row) * bcx.slice(row, 1).as<float>()[2 * layer.hidden + index];
  }
};

float output(const Channel& channel, View kernel, View bias, int64_t position) {
  float y = 0.0F;
  for (int64_t j = 0; j < channel.layer.length; ++j) {
    const int64_t t = position - (channel.layer.length - 1) + j;
    if (t < 0) continue;
    y = std::fma(kernel.slice(j, 1).as<float>()[channel.index], channel.product(t), y);
  }
  if (bias.data != nullptr) y = y + bias.as<float>()[channel.index];
  return channel.gate_out(channel.row_of(position)) * y;
}

// Ascending, so that of the positions that share a row the last one stays.
void remember(const Channel& channel) {
  const Segment& segment = channel.segment;
  for (int64_t t = 0; t < segment.tokens; ++t) {
    const int64_t position = segment.position + t;
    state_row(channel.layer, segment, position)[channel.index] = channel.product(position);
  }
}

}  // namespace

void ReferenceOps::short_conv(View bcx, View kernel, View bias, const ConvLayer& layer,
                              std::span<const Segment> segments, View out) {
  for (const Segment& segment : segments) {
    for (int64_t c = 0; c < layer.hidden; ++c) {
      const Channel channel{bcx, layer, segment, c};
      for (int64_t t = 0; t < segment.tokens; ++t) {
        out.slice(segment.first_row + t, 1).as<float>()[c] =
            output(channel, kernel, bias, segment.position + t);
      }
      remember(channel);
    }
  }
}

}  // namespace mummu::reference
