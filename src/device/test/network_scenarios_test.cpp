// Scenarios of the ops that only some families need: short_conv, route, experts, layer_norm, gelu,
// add.

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "device/test/scenario.h"

namespace mummu::test {
namespace {

// A vector of numbers as rows of `columns`.
View shaped(View row, int64_t columns) {
  return {row.data, row.type, row.columns / columns, columns};
}

std::string kind_suffix(Kind kind) { return kind == Kind::odd ? " odd" : ""; }

struct Conv {
  int64_t length, hidden;
  bool bias;
  Kind kind;
};

// Two sequences, fed in pieces that begin and end inside and on the edges of pages.
std::vector<float> run_conv(Bed& bed, const Conv& conv) {
  constexpr std::array<int64_t, 5> kPieces = {1, 4, 11, 30, 2};
  ConvLayer layer{.pool = {}, .length = conv.length, .hidden = conv.hidden};
  layer.layer_offset_bytes = layer.bytes();
  const int64_t columns = 3 * layer.bytes();
  layer.pool = bed.bytes(8, columns,
                         std::vector<std::byte>(static_cast<size_t>(8 * columns), std::byte{0xFF}));
  const View kernel =
      bed.floats(conv.length, conv.hidden, Numbers(71).values(conv.length * conv.hidden));
  const View bias =
      conv.bias ? bed.floats(1, conv.hidden, Numbers(72).values(conv.hidden)) : View{};
  const std::vector<int32_t> pages_a = {5, 2, 7};
  const std::vector<int32_t> pages_b = {0, 6, 1};
  std::vector<float> all;
  int64_t position = 0;
  uint64_t seed = 73;
  for (int64_t tokens : kPieces) {
    const int64_t rows = 2 * tokens;
    const View bcx = bed.floats(rows, 3 * conv.hidden,
                                Numbers(seed++, conv.kind).values(rows * 3 * conv.hidden));
    const View out = bed.blank(rows, conv.hidden);
    const std::array segments = {Segment{tokens, tokens, position, pages_a},
                                 Segment{0, tokens, position, pages_b}};
    bed.step([&] { bed.ops().short_conv(bcx, kernel, bias, layer, segments, out); });
    append(all, bed.read(out));
    position += tokens;
  }
  return all;
}

std::vector<float> run_route(Bed& bed, int64_t experts, int64_t top_k, bool normalise, Kind kind) {
  constexpr int64_t kTokens = 9;
  std::vector<float> values = Numbers(81, kind).values(kTokens * experts);
  // Ties, also of everything.
  for (int64_t e = 0; e < experts; e += 2) values[static_cast<size_t>(e)] = 0.5F;
  for (int64_t e = 0; e < experts; ++e) values[static_cast<size_t>(experts + e)] = -1.0F;
  const View scores = bed.floats(kTokens, experts, values);
  const View chosen =
      shaped(bed.ints(std::vector<int32_t>(static_cast<size_t>(kTokens * top_k), -1)), top_k);
  const View share = bed.blank(kTokens, top_k);
  bed.step([&] { bed.ops().route(scores, normalise, chosen, share); });
  std::vector<float> out = bed.read(share);
  std::vector<int32_t> ids(static_cast<size_t>(kTokens * top_k));
  bed.ops().download(chosen, ids.data());
  for (int32_t id : ids) out.push_back(static_cast<float>(id));
  return out;
}

std::vector<Weight> pack_all(Bed& bed, DType type, int64_t count, int64_t rows, int64_t columns,
                             uint64_t seed) {
  std::vector<Weight> weights;
  for (int64_t e = 0; e < count; ++e) {
    const auto bytes =
        weight_bytes(type, rows, columns, seed + static_cast<uint64_t>(e), Kind::ordinary);
    const auto read = [&](int64_t first, int64_t n, std::span<std::byte> out) -> Result<void> {
      const auto row = static_cast<size_t>(row_bytes(type, columns));
      std::memcpy(out.data(), bytes.data() + static_cast<size_t>(first) * row,
                  static_cast<size_t>(n) * row);
      return {};
    };
    weights.push_back(bed.ops().pack({type, rows, columns, read}).value());
  }
  return weights;
}

std::vector<float> run_experts(Bed& bed, DType type, int64_t tokens) {
  constexpr int64_t kExperts = 5;
  constexpr int64_t kTopK = 3;
  const int64_t hidden = whole_blocks(type, 64);
  const int64_t ffn = whole_blocks(type, 32);
  const auto gate = pack_all(bed, type, kExperts, ffn, hidden, 101);
  const auto up = pack_all(bed, type, kExperts, ffn, hidden, 111);
  const auto down = pack_all(bed, type, kExperts, hidden, ffn, 121);
  const Experts experts{.gate = gate,
                        .up = up,
                        .down = down,
                        .rows = bed.blank(tokens, hidden),
                        .result = bed.blank(tokens, hidden),
                        .sum = bed.blank(tokens, hidden),
                        .inner = bed.blank(tokens, ffn)};
  std::vector<int32_t> ids;
  for (int64_t t = 0; t < tokens; ++t) {
    const auto left_out = static_cast<int32_t>(t % 4);
    for (int32_t e = 0; e < kTopK + 1; ++e)
      if (e != left_out) ids.push_back(e == 3 && t % 3 == 0 ? 4 : e);
  }
  const View chosen = shaped(bed.ints(ids), kTopK);
  const View share = bed.floats(tokens, kTopK, Numbers(131).values(tokens * kTopK));
  const View x = bed.floats(tokens, hidden, Numbers(132).values(tokens * hidden));
  const View out = bed.floats(tokens, hidden, Numbers(133).values(tokens * hidden));
  bed.reserve(tokens, hidden);
  bed.step([&] { bed.ops().experts(x, experts, chosen, share, out); });
  return bed.read(out);
}

std::vector<float> run_layer_norm(Bed& bed, int64_t tokens, int64_t columns, Kind kind) {
  const View x = bed.floats(tokens, columns, Numbers(141, kind).values(tokens * columns));
  const View weight = bed.floats(1, columns, Numbers(142).values(columns));
  const View bias = bed.floats(1, columns, Numbers(143).values(columns));
  const View to = bed.blank(tokens, columns);
  bed.step([&] {
    bed.ops().layer_norm(x, weight, bias, 1e-12F, to);
    bed.ops().layer_norm(x, weight, bias, 1e-5F, x);  // in place
  });
  std::vector<float> out = bed.read(to);
  append(out, bed.read(x));
  return out;
}

}  // namespace

std::vector<Scenario> short_conv_scenarios() {
  std::vector<Scenario> all;
  for (const Conv& conv : {Conv{3, 64, false, Kind::ordinary}, Conv{3, 64, false, Kind::odd},
                           Conv{2, 17, true, Kind::ordinary}, Conv{4, 40, true, Kind::ordinary},
                           Conv{16, 33, false, Kind::ordinary}})
    all.push_back({fmt::format("{} taps {} channels{}{}", conv.length, conv.hidden,
                               conv.bias ? " bias" : "", kind_suffix(conv.kind)),
                   [=](Bed& bed) { return run_conv(bed, conv); }});
  return all;
}

std::vector<Scenario> route_scenarios() {
  std::vector<Scenario> all;
  for (Kind kind : {Kind::ordinary, Kind::odd})
    for (bool normalise : {false, true})
      for (const auto& [of, top_k] :
           {std::pair<int64_t, int64_t>{64, 8}, {12, 3}, {17, 17}, {1, 1}})
        all.push_back({fmt::format("{} of {}{}{}", top_k, of, normalise ? " normalised" : "",
                                   kind_suffix(kind)),
                       [=, experts = of, chosen = top_k](Bed& bed) {
                         return run_route(bed, experts, chosen, normalise, kind);
                       }});
  return all;
}

std::vector<Scenario> experts_scenarios() {
  std::vector<Scenario> all;
  for (DType type : kWeightTypes)
    for (int64_t tokens : {1, 21})
      all.push_back({fmt::format("{} {} tokens", name(type), tokens),
                     [=](Bed& bed) { return run_experts(bed, type, tokens); }});
  return all;
}

std::vector<Scenario> layer_norm_scenarios() {
  std::vector<Scenario> all;
  for (int64_t columns : {1, 2, 15, 16, 17, 33, 48, 384, 577})
    all.push_back({fmt::format("{} columns", columns),
                   [=](Bed& bed) { return run_layer_norm(bed, 3, columns, Kind::ordinary); }});
  for (int64_t columns : {3, 40})
    all.push_back({fmt::format("{} columns odd", columns),
                   [=](Bed& bed) { return run_layer_norm(bed, 40, columns, Kind::odd); }});
  return all;
}

std::vector<Scenario> gelu_scenarios() {
  std::vector<Scenario> all;
  for (Kind kind : {Kind::ordinary, Kind::odd})
    all.push_back({fmt::format("rows of any width{}", kind_suffix(kind)), [=](Bed& bed) {
                     std::vector<float> out;
                     for (int64_t columns : {1, 15, 16, 17, 384}) {
                       const View x =
                           bed.floats(5, columns, Numbers(151, kind).values(5 * columns));
                       bed.step([&] { bed.ops().gelu(x, x); });
                       append(out, bed.read(x));
                     }
                     return out;
                   }});
  return all;
}

std::vector<Scenario> add_scenarios() {
  return {{"rows of any width", [](Bed& bed) {
             std::vector<float> out;
             for (int64_t columns : {1, 15, 16, 17, 384}) {
               const View x = bed.floats(5, columns, Numbers(161).values(5 * columns));
               const View to = bed.floats(5, columns, Numbers(162, Kind::odd).values(5 * columns));
               bed.step([&] { bed.ops().add(x, to); });
               append(out, bed.read(to));
             }
             return out;
           }}};
}

}  // namespace mummu::test
