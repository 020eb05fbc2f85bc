// Milliseconds a token of the sampler at 151,936 logits, by setting. The bar: 0.3 ms when greedy or
// top_k <= 100.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "base/philox.h"
#include "engine/sampler.h"

namespace {

using namespace mummu;

constexpr int64_t kVocab = 151936;

// Peaked rows, as a model gives them: a few high logits over a wide bell.
std::vector<float> make_row(uint64_t seed) {
  std::vector<float> row(kVocab);
  for (size_t i = 0; i < row.size(); ++i) {
    const auto words = random_words(seed, static_cast<int64_t>(i), 0);
    float sum = 0;
    for (uint32_t word : words) sum += static_cast<float>(word) * 0x1p-32f;
    row[i] = 6 * (sum - 2);
    if (words[0] % 4096 == 0) row[i] += 8;
  }
  return row;
}

double milliseconds(Sampler& sampler, RowScan& scan, const std::vector<std::vector<float>>& rows,
                    const RequestOptions& options) {
  std::vector<double> times;
  for (int repeat = 0; repeat < 60; ++repeat) {
    const auto& row = rows[static_cast<size_t>(repeat) % rows.size()];
    const auto start = std::chrono::steady_clock::now();
    scan.look(row, false);
    const auto id = sampler.pick(row, scan, options, {.seed = 1, .position = repeat});
    const auto end = std::chrono::steady_clock::now();
    if (!id) return -1;
    times.push_back(std::chrono::duration<double, std::milli>(end - start).count());
  }
  std::nth_element(times.begin(), times.begin() + 30, times.end());
  return times[30];
}

}  // namespace

int main() {
  Sampler sampler;
  RowScan scan;
  sampler.reserve(kVocab);
  scan.reserve(kVocab);
  std::vector<std::vector<float>> rows;
  for (uint64_t seed = 0; seed < 6; ++seed) rows.push_back(make_row(seed));
  const struct {
    const char* name;
    RequestOptions options;
  } settings[] = {
      {"greedy", {}},
      {"temperature 0.7", {.temperature = 0.7f}},
      {"temperature 0.7, top_k 40", {.temperature = 0.7f, .top_k = 40}},
      {"temperature 0.7, top_k 100, top_p 0.9", {.temperature = 0.7f, .top_k = 100, .top_p = 0.9f}},
      {"temperature 0.7, top_p 0.9", {.temperature = 0.7f, .top_p = 0.9f}},
      {"temperature 1.5, top_p 0.99, min_p 0.01",
       {.temperature = 1.5f, .top_p = 0.99f, .min_p = 0.01f}},
      {"temperature 0.7, top_k 5000", {.temperature = 0.7f, .top_k = 5000}},
  };
  for (const auto& setting : settings)
    std::printf("%-42s %.3f ms\n", setting.name,
                milliseconds(sampler, scan, rows, setting.options));
  return 0;
}
