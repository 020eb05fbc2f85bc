// Scenarios of the ops that work on one row at a time: embedding, gather, rms_norm, rope.

#include <fmt/format.h>

#include "device/test/scenario.h"

namespace mummu::test {

std::vector<Scenario> embedding_scenarios() {
  std::vector<Scenario> all;
  for (DType type : kWeightTypes) {
    for (Kind kind : {Kind::ordinary, Kind::odd}) {
      const auto run = [=](Bed& bed) {
        std::vector<float> out;
        for (int64_t least : {32, 64, 96, 576}) {
          const int64_t columns = whole_blocks(type, least);
          const Weight& table = bed.weight(type, 37, columns, 11, kind);
          const View ids = bed.ints({0, 36, 5, 15, 16, 17, 5, 31, 32});
          const View to = bed.blank(9, columns);
          bed.step([&] { bed.ops().embedding(table, ids, to); });
          append(out, bed.read(to));
        }
        return out;
      };
      all.push_back({fmt::format("{}{}", name(type), kind == Kind::odd ? " odd" : ""), run});
    }
  }
  all.push_back({"float rows that are no multiple of 16", [](Bed& bed) {
                   std::vector<float> out;
                   for (DType type : {DType::f32, DType::f16, DType::bf16}) {
                     for (int64_t columns : {1, 7, 15, 17, 33}) {
                       const Weight& table = bed.weight(type, 3, columns, 12);
                       const View ids = bed.ints({2, 0, 1});
                       const View to = bed.blank(3, columns);
                       bed.step([&] { bed.ops().embedding(table, ids, to); });
                       append(out, bed.read(to));
                     }
                   }
                   return out;
                 }});
  all.push_back({"no tokens", [](Bed& bed) {
                   const Weight& table = bed.weight(DType::q8_0, 4, 32, 13);
                   const View ids = bed.ints({});
                   const View to = bed.blank(0, 32);
                   bed.step([&] { bed.ops().embedding(table, ids, to); });
                   return bed.read(to);
                 }});
  return all;
}

std::vector<Scenario> gather_scenarios() {
  return {{"rows in any order", [](Bed& bed) {
             std::vector<float> out;
             for (int64_t columns : {1, 15, 16, 17, 64}) {
               const View x = bed.floats(6, columns, Numbers(21, Kind::odd).values(6 * columns));
               const View from = bed.ints({5, 0, 3, 3});
               const View none = bed.ints({});
               const View to = bed.blank(4, columns);
               const View to_none = bed.blank(0, columns);
               bed.step([&] {
                 bed.ops().gather(x, from, to);
                 bed.ops().gather(x, none, to_none);
               });
               append(out, bed.read(to));
             }
             return out;
           }}};
}

std::vector<Scenario> rms_norm_scenarios() {
  std::vector<Scenario> all;
  const auto run = [](Bed& bed, int64_t tokens, int64_t columns, Kind kind) {
    Numbers numbers(31, kind);
    const View x = bed.floats(tokens, columns, numbers.values(tokens * columns));
    const View weight = bed.floats(1, columns, Numbers(32).values(columns));
    const View to = bed.blank(tokens, columns);
    bed.step([&] {
      bed.ops().rms_norm(x, weight, 1e-5F, to);
      bed.ops().rms_norm(x, weight, 1e-6F, x);  // in place
    });
    std::vector<float> out = bed.read(to);
    append(out, bed.read(x));
    return out;
  };
  for (int64_t columns : {1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 100, 576, 2048}) {
    all.push_back({fmt::format("{} columns", columns),
                   [=](Bed& bed) { return run(bed, 3, columns, Kind::ordinary); }});
  }
  for (int64_t columns : {3, 16, 40, 577}) {
    all.push_back({fmt::format("{} columns odd", columns),
                   [=](Bed& bed) { return run(bed, 40, columns, Kind::odd); }});
  }
  all.push_back({"no tokens", [=](Bed& bed) { return run(bed, 0, 16, Kind::ordinary); }});
  all.push_back({"many tokens", [=](Bed& bed) { return run(bed, 300, 576, Kind::ordinary); }});
  all.push_back({"denormals and one huge value", [](Bed& bed) {
                   std::vector<float> values(48, 0x1p-140F);
                   values[16] = 0x1p+60F;
                   values[33] = -0x1p-149F;
                   const View x = bed.floats(3, 16, values);
                   const View weight = bed.floats(1, 16, std::vector<float>(16, 0x1p-10F));
                   bed.step([&] { bed.ops().rms_norm(x, weight, 0x1p-148F, x); });
                   return bed.read(x);
                 }});
  return all;
}

namespace {

struct RopeShape {
  int64_t tokens, heads, head_dim, rotary_dim;
};

std::vector<float> run_rope(Bed& bed, RopeShape s, Kind kind) {
  const int64_t columns = s.heads * s.head_dim;
  const View x = bed.floats(s.tokens, columns, Numbers(41, kind).values(s.tokens * columns));
  const View table = bed.floats(50, s.rotary_dim, Numbers(42, kind).values(50 * s.rotary_dim));
  Numbers numbers(43);
  std::vector<int32_t> positions;
  for (int64_t t = 0; t < s.tokens; ++t) {
    positions.push_back(static_cast<int32_t>(numbers.below(50)));
  }
  const View at = bed.ints(positions);
  bed.step([&] { bed.ops().rope(x, s.heads, at, table); });
  return bed.read(x);
}

}  // namespace

std::vector<Scenario> rope_scenarios() {
  std::vector<Scenario> all;
  const RopeShape shapes[] = {{3, 1, 2, 2},   {2, 3, 6, 6},     {2, 9, 64, 64}, {3, 7, 80, 80},
                              {2, 5, 96, 96}, {2, 3, 128, 128}, {2, 3, 80, 32}, {2, 2, 40, 34},
                              {0, 3, 64, 64}, {300, 9, 64, 64}, {1, 1, 62, 62}};
  for (const RopeShape& s : shapes) {
    for (Kind kind : {Kind::ordinary, Kind::odd}) {
      all.push_back({fmt::format("{} tokens, {} heads of {}, {} turned{}", s.tokens, s.heads,
                                 s.head_dim, s.rotary_dim, kind == Kind::odd ? " odd" : ""),
                     [=](Bed& bed) { return run_rope(bed, s, kind); }});
    }
  }
  return all;
}

}  // namespace mummu::test
