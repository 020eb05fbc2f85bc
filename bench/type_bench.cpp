// Matmuls of every weight type, one thread: GB/s of packed weights for one token, read from memory
// (as many matrices as do not fit a cache), and GOP/s for 64 and 512 tokens.
//
//   type_bench [isa] [seconds]      isa: all avx512 avx2 reference

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "device/machine.h"
#include "device/ops.h"
#include "mummu/device.h"

namespace mummu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kRows = 1536, kColumns = 2048;
constexpr int64_t kLoadedBytes = int64_t{192} << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Random blocks; their f16 words are about 2^-8.
std::vector<std::byte> random_rows(DType type, int64_t rows) {
  std::vector<std::byte> bytes(static_cast<size_t>(rows * row_bytes(type, kColumns)));
  uint32_t state = 1;
  const auto next = [&] { return (state = state * 1664525U + 1013904223U) >> 24; };
  for (std::byte& b : bytes) b = static_cast<std::byte>(next());
  const auto block = static_cast<size_t>(info(type).bytes);
  const size_t first = type == DType::q6_k ? block - 2 : 0;
  for (size_t at = first; is_quantised(type) && at < bytes.size(); at += block) {
    for (size_t i = 0; i < (has_minimum(type) ? 2U : 1U); ++i) {
      const auto scale = static_cast<uint16_t>(0x1c00 + next());
      std::memcpy(&bytes[at + 2 * i], &scale, sizeof scale);
    }
  }
  return bytes;
}

std::vector<Weight> weights(Ops& ops, DType type) {
  constexpr int64_t kPattern = 32;
  const auto pattern = random_rows(type, kPattern);
  const auto row = static_cast<size_t>(row_bytes(type, kColumns));
  const auto read = [&](int64_t first, int64_t count, std::span<std::byte> out) -> Result<void> {
    for (int64_t i = 0; i < count; ++i) {
      const auto from = static_cast<size_t>((first + i) % kPattern) * row;
      std::memcpy(&out[static_cast<size_t>(i) * row], &pattern[from], row);
    }
    return {};
  };
  const int64_t count =
      std::max<int64_t>(2, kLoadedBytes / ops.packed_bytes(type, kRows, kColumns));
  std::vector<Weight> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(*ops.pack({type, kRows, kColumns, read}));
  return all;
}

// Median seconds of one matmul of `tokens` tokens, over all the weights in turn.
double measure(Ops& ops, const std::vector<Weight>& all, int64_t tokens, double seconds) {
  ops.reserve(tokens, kColumns).value();
  Tensor x = *ops.make(DType::f32, tokens, kColumns);
  Tensor out = *ops.make(DType::f32, tokens, kRows);
  std::vector<float> values(static_cast<size_t>(tokens * kColumns));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i * 7919 % 1024) / 512 - 1;
  }
  ops.upload(values.data(), x.view());
  const size_t at_once = tokens == 1 ? all.size() : 1;
  std::vector<double> times;
  const auto start = Clock::now();
  for (size_t next = 0; times.size() < 5 || seconds_since(start) < seconds;) {
    const auto begin = Clock::now();
    for (size_t i = 0; i < at_once; ++i, next = (next + 1) % all.size()) {
      const MatmulOut to = {.weight = &all[next], .bias = {}, .out = out.view()};
      ops.start();
      ops.matmul(x.view(), {&to, 1});
      ops.finish().value();
    }
    times.push_back(seconds_since(begin) / static_cast<double>(at_once));
  }
  std::nth_element(times.begin(), times.begin() + static_cast<int64_t>(times.size()) / 2,
                   times.end());
  return times[times.size() / 2];
}

void measure_all(Isa isa, double seconds) {
  Device device = *open_device("cpu", {.parallel = serial(), .isa = isa});
  std::printf("%s, one thread, %ld x %ld\n", device.info().isa.c_str(), static_cast<long>(kRows),
              static_cast<long>(kColumns));
  for (DType type : {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0, DType::q4_1,
                     DType::q5_0, DType::q5_1, DType::q4_k, DType::q5_k, DType::q6_k}) {
    const auto all = weights(device.ops(), type);
    const auto bytes = static_cast<double>(all.front().bytes());
    const double one = measure(device.ops(), all, 1, seconds);
    std::printf("  %-5s %5.2f bits/weight  %6.1f GB/s", std::string(name(type)).c_str(),
                bytes * 8 / (kRows * kColumns), bytes / one * 1e-9);
    for (int64_t tokens : {64, 512}) {
      const double s = measure(device.ops(), all, tokens, seconds);
      std::printf("  %6.1f GOP/s (%ld tokens)",
                  2e-9 * static_cast<double>(kRows * kColumns * tokens) / s,
                  static_cast<long>(tokens));
    }
    std::puts("");
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace mummu

int main(int argc, char** argv) {
  using mummu::Isa;
  const std::string_view isa = argc > 1 ? argv[1] : "all";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.5;
  const std::pair<std::string_view, Isa> known[] = {
      {"avx512", Isa::avx512}, {"avx2", Isa::avx2}, {"reference", Isa::reference}};
  for (const auto& [name, value] : known) {
    if (isa != name && (isa != "all" || value == Isa::reference)) continue;
    if (mummu::cpu_has(value)) mummu::measure_all(value, seconds);
  }
}
