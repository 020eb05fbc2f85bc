// Scenarios of the ops with weights: matmul and gated.

#include <fmt/format.h>

#include "device/test/scenario.h"

namespace mummu::test {
namespace {

struct Shape {
  int64_t tokens, rows, columns;
};

const char* word(Kind kind) { return kind == Kind::odd ? " odd" : ""; }

std::vector<float> run_matmul(Bed& bed, DType type, Shape s, Kind kind) {
  s.columns = whole_blocks(type, s.columns);
  bed.reserve(s.tokens, s.columns);
  const View x = bed.floats(s.tokens, s.columns, Numbers(51, kind).values(s.tokens * s.columns));
  const Weight& weight = bed.weight(type, s.rows, s.columns, 52, kind);
  const View out = bed.blank(s.tokens, s.rows);
  const MatmulOut to[] = {{.weight = &weight, .bias = {}, .out = out}};
  bed.step([&] { bed.ops().matmul(x, to); });
  return bed.read(out);
}

// Three weights of one input, of different heights, with bias or onto what stands there.
std::vector<float> run_three(Bed& bed, std::array<DType, 3> types, int64_t tokens) {
  int64_t columns = 96;
  for (DType type : types) columns = whole_blocks(type, columns);
  const int64_t rows[] = {48, 17, 33};
  bed.reserve(tokens, columns);
  const View x = bed.floats(tokens, columns, Numbers(53).values(tokens * columns));
  std::vector<MatmulOut> outs;
  for (size_t i = 0; i < 3; ++i) {
    const View bias = bed.floats(1, rows[i], Numbers(54 + i).values(rows[i]));
    outs.push_back({.weight = &bed.weight(types[i], rows[i], columns, 57 + i),
                    .bias = i == 1 ? View{} : bias,
                    .out = bed.floats(tokens, rows[i], Numbers(60 + i).values(tokens * rows[i])),
                    .add = i != 0});
  }
  bed.step([&] { bed.ops().matmul(x, outs); });
  std::vector<float> out;
  for (const MatmulOut& to : outs) append(out, bed.read(to.out));
  return out;
}

std::vector<float> run_gated(Bed& bed, DType type, Shape s, Kind kind) {
  s.columns = whole_blocks(type, s.columns);
  bed.reserve(s.tokens, s.columns);
  const View x = bed.floats(s.tokens, s.columns, Numbers(71, kind).values(s.tokens * s.columns));
  const Weight& gate = bed.weight(type, s.rows, s.columns, 72, kind);
  const Weight& up = bed.weight(type, s.rows, s.columns, 73, kind);
  const View out = bed.blank(s.tokens, s.rows);
  bed.step([&] { bed.ops().gated(x, gate, up, out); });
  return bed.read(out);
}

// Activations that the quantiser treats apart: one block of each sort in every row.
std::vector<float> quantiser_corners() {
  std::vector<float> blocks;
  const auto block = [&](float fill, float first, float last) {
    std::vector<float> values(32, fill);
    values.front() = first;
    values.back() = last;
    append(blocks, values);
  };
  const float infinity = std::bit_cast<float>(0x7F800000U);
  const float nan = std::bit_cast<float>(0x7FC00000U);
  block(1, nan, 2);
  block(1, 3, infinity);
  block(-1, -infinity, 0);
  block(0, 0, -0.0F);
  block(0x1p-149F, 0x1p-126F, -0x1p-130F);  // denormals
  block(0x1.8p-101F, 0x1p-101F, -0x1.fffffep-101F);
  block(0x1p-101F, 0x1p-100F, 0);  // the smallest that counts
  block(0x1p+120F, 0x1.fffffep+127F, -0x1p+127F);
  block(0.5F, 127, -127);  // ties
  block(2.5F, -127, 1.5F);
  block(0x1p-30F, 1, -1);
  block(0x1.fffffep-1F, 1, 0x1.fffffcp-1F);
  return blocks;
}

std::vector<float> run_quantiser_corners(Bed& bed, DType type) {
  const std::vector<float> corners = quantiser_corners();
  const size_t count = corners.size() / 32;
  const int64_t columns = whole_blocks(type, 32);
  // A block a row, so that a NaN stays there; where a row takes more, in any place of it.
  std::vector<float> values(count * static_cast<size_t>(columns));
  for (size_t i = 0; i < count; ++i) {
    const size_t at = i % static_cast<size_t>(columns / 32);
    std::copy_n(&corners[i * 32], 32, &values[i * static_cast<size_t>(columns) + at * 32]);
  }
  const auto tokens = static_cast<int64_t>(count);
  bed.reserve(tokens, columns);
  const View x = bed.floats(tokens, columns, values);
  const Weight& weight = bed.weight(type, 19, columns, 74);
  const View out = bed.blank(tokens, 19);
  const MatmulOut to[] = {{.weight = &weight, .bias = {}, .out = out}};
  bed.step([&] { bed.ops().matmul(x, to); });
  return bed.read(out);
}

// Blocks whose every number and sub-scale is the largest, the smallest, or -1, with activations all
// 127, all -127 or in turn: no sum on the way may overflow.
std::vector<float> run_largest(Bed& bed, DType type) {
  const int64_t columns = whole_blocks(type, 32);
  constexpr int64_t kTokens = 5;
  bed.reserve(kTokens, columns);
  std::vector<float> values(static_cast<size_t>(kTokens * columns), 1.0F);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t token = i / static_cast<size_t>(columns);
    if (token == 1 || (token == 2 && i % 2 == 0) || (token == 3 && i % 4 < 2)) values[i] = -1;
  }
  const View x = bed.floats(kTokens, columns, values);
  std::vector<float> out;
  for (const int byte : {0x00, 0x80, 0x7F, 0xFF}) {
    std::vector<std::byte> bytes = weight_bytes(type, 17, columns, 75);
    const auto block = static_cast<size_t>(info(type).bytes);
    const size_t scales = has_minimum(type) ? 4 : 2;
    for (size_t i = 0; i < bytes.size(); ++i) {
      const size_t at = i % block;
      const bool scale = type == DType::q6_k ? at >= block - 2 : at < scales;
      if (!scale) bytes[i] = static_cast<std::byte>(byte);
      // The smallest numbers times the smallest scale.
      if (type == DType::q6_k && !scale && at >= block - 18) bytes[i] = std::byte{0x80};
    }
    const Weight& weight = bed.weight(type, 17, columns, bytes);
    const View to = bed.blank(kTokens, 17);
    const MatmulOut outs[] = {{.weight = &weight, .bias = {}, .out = to}};
    bed.step([&] { bed.ops().matmul(x, outs); });
    append(out, bed.read(to));
  }
  return out;
}

std::vector<int64_t> column_counts(DType type) {
  if (info(type).elements == 256) return {256, 512, 768, 2048};
  if (is_quantised(type)) return {32, 64, 160, 576, 1536};
  return {1, 2, 7, 15, 16, 17, 31, 33, 100, 576};
}

}  // namespace

std::vector<Scenario> matmul_scenarios() {
  std::vector<Scenario> all;
  for (DType type : kWeightTypes) {
    const auto add = [&](std::string name, std::function<std::vector<float>(Bed&)> run) {
      all.push_back({fmt::format("{} {}", mummu::name(type), name), std::move(run)});
    };
    add("1 to 40 tokens", [=](Bed& bed) {
      std::vector<float> out;
      for (int64_t tokens = 1; tokens <= 40; ++tokens) {
        append(out, run_matmul(bed, type, {tokens, 35, 96}, Kind::ordinary));
      }
      return out;
    });
    add("columns", [=](Bed& bed) {
      std::vector<float> out;
      for (int64_t columns : column_counts(type)) {
        for (int64_t tokens : {1, 5}) {
          append(out, run_matmul(bed, type, {tokens, 17, columns}, Kind::ordinary));
        }
      }
      return out;
    });
    add("rows", [=](Bed& bed) {
      std::vector<float> out;
      for (int64_t rows : {1, 2, 15, 16, 17, 31, 32, 33, 50}) {
        for (int64_t tokens : {1, 3, 18}) {
          append(out, run_matmul(bed, type, {tokens, rows, 64}, Kind::ordinary));
        }
      }
      return out;
    });
    add("odd", [=](Bed& bed) {
      std::vector<float> out;
      for (int64_t tokens : {1, 4, 20}) {
        append(out, run_matmul(bed, type, {tokens, 33, 32}, Kind::odd));
        append(out, run_matmul(bed, type, {tokens, 33, 96}, Kind::odd));
      }
      return out;
    });
    add("large", [=](Bed& bed) {
      std::vector<float> out = run_matmul(bed, type, {1, 700, 320}, Kind::ordinary);
      append(out, run_matmul(bed, type, {70, 100, 320}, Kind::ordinary));
      return out;
    });
    add("no tokens", [=](Bed& bed) { return run_matmul(bed, type, {0, 16, 32}, Kind::ordinary); });
    add("the quantiser's corners", [=](Bed& bed) { return run_quantiser_corners(bed, type); });
    if (is_quantised(type)) {
      add("the largest numbers", [=](Bed& bed) { return run_largest(bed, type); });
    }
    add("three outs", [=](Bed& bed) {
      std::vector<float> out = run_three(bed, {type, type, type}, 1);
      append(out, run_three(bed, {type, type, type}, 21));
      return out;
    });
  }
  all.push_back({"three outs of different types", [](Bed& bed) {
                   std::vector<float> out =
                       run_three(bed, {DType::q4_1, DType::f32, DType::q8_0}, 1);
                   append(out, run_three(bed, {DType::q4_0, DType::q4_1, DType::f16}, 9));
                   append(out, run_three(bed, {DType::bf16, DType::f32, DType::q4_0}, 34));
                   return out;
                 }});
  all.push_back({"three outs as a Q4_K_M file mixes them", [](Bed& bed) {
                   std::vector<float> out =
                       run_three(bed, {DType::q4_k, DType::q6_k, DType::q5_0}, 1);
                   append(out, run_three(bed, {DType::q5_1, DType::q5_k, DType::f32}, 18));
                   return out;
                 }});
  return all;
}

std::vector<Scenario> gated_scenarios() {
  std::vector<Scenario> all;
  for (DType type : kWeightTypes) {
    const Shape shapes[] = {{1, 1, 32},  {1, 16, 64},  {1, 700, 320}, {2, 17, 96},
                            {5, 33, 32}, {21, 40, 96}, {70, 100, 320}};
    for (Kind kind : {Kind::ordinary, Kind::odd}) {
      all.push_back({fmt::format("{}{}", name(type), word(kind)), [=](Bed& bed) {
                       std::vector<float> out;
                       for (const Shape& s : shapes) {
                         // Of a wide odd row nothing but NaN would be left.
                         if (kind == Kind::odd && s.columns > 96) continue;
                         append(out, run_gated(bed, type, s, kind));
                       }
                       return out;
                     }});
    }
  }
  return all;
}

}  // namespace mummu::test
