// Scenarios of what makes one vector of a sequence: pool, l2_norm.

#include <fmt/format.h>

#include <array>

#include "device/test/scenario.h"

namespace mummu::test {
namespace {

constexpr std::array<const char*, 6> kNames = {"first", "last",      "largest",
                                               "mean",  "mean_sqrt", "weighted_mean"};

// Three sequences; the second comes in three pieces between the others.
std::vector<float> run_pool(Bed& bed, Pool how, int64_t columns, Kind kind) {
  const View x = bed.floats(40, columns, Numbers(171, kind).values(40 * columns));
  const View out = bed.blank(3, columns);
  const std::array first = {PoolRun{.first_row = 0, .tokens = 1, .out_row = 2},
                            PoolRun{.first_row = 1, .tokens = 16, .out_row = 0, .ends = false}};
  const std::array second = {
      PoolRun{.first_row = 3, .tokens = 1, .position = 16, .out_row = 0, .ends = false},
      PoolRun{.first_row = 7, .tokens = 33, .out_row = 1}};
  const PoolRun last{.first_row = 4, .tokens = 21, .position = 17, .out_row = 0};
  bed.step([&] {
    bed.ops().pool(x, how, first, out);
    bed.ops().pool(x, how, second, out);
    bed.ops().pool(x, how, {&last, 1}, out);
  });
  return bed.read(out);
}

std::vector<float> run_l2_norm(Bed& bed, int64_t columns, Kind kind) {
  constexpr int64_t kRows = 40;
  std::vector<float> values = Numbers(181, kind).values(kRows * columns);
  for (int64_t i = 0; i < columns; ++i) {
    values[static_cast<size_t>(i)] = 0;
    values[static_cast<size_t>(columns + i)] *= 1e-15F;
  }
  const View x = bed.floats(kRows, columns, values);
  const View to = bed.blank(kRows, columns);
  bed.step([&] {
    bed.ops().l2_norm(x, to);
    bed.ops().l2_norm(x, x);  // in place
  });
  std::vector<float> out = bed.read(to);
  append(out, bed.read(x));
  return out;
}

}  // namespace

std::vector<Scenario> pool_scenarios() {
  std::vector<Scenario> all;
  for (size_t i = 0; i < kNames.size(); ++i)
    for (int64_t columns : {1, 15, 16, 33, 384})
      for (Kind kind : {Kind::ordinary, Kind::odd}) {
        if (kind == Kind::odd && columns != 33) continue;
        const auto how = static_cast<Pool>(i);
        all.push_back(
            {fmt::format("{} {} columns{}", kNames[i], columns, kind == Kind::odd ? " odd" : ""),
             [=](Bed& bed) { return run_pool(bed, how, columns, kind); }});
      }
  return all;
}

std::vector<Scenario> l2_norm_scenarios() {
  std::vector<Scenario> all;
  for (int64_t columns : {1, 15, 16, 17, 33, 384, 577})
    all.push_back({fmt::format("{} columns", columns),
                   [=](Bed& bed) { return run_l2_norm(bed, columns, Kind::ordinary); }});
  for (int64_t columns : {3, 40})
    all.push_back({fmt::format("{} columns odd", columns),
                   [=](Bed& bed) { return run_l2_norm(bed, columns, Kind::odd); }});
  return all;
}

}  // namespace mummu::test
