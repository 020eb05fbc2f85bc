// The ops of SmolLM2-135M's steps, each timed in its place: a decode step and a prefill step over
// random weights of the real shapes and types (30 layers, so that weights come from memory as in
// the model), for each instruction set of this machine and for 1 and all threads. Prints for each
// op the median time of a step, its share, and GB/s of weights or GFLOP/s.
//
//   kernel_bench [isa] [threads] [seconds]      isa: all avx512 avx2 reference; threads: 0 = 1 and
//   all

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "device/machine.h"
#include "device/ops.h"
#include "mummu/device.h"

namespace mummu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kLayers = 30, kHidden = 576, kHeads = 9, kKvHeads = 3, kHeadDim = 64;
constexpr int64_t kFfn = 1536, kVocab = 49152, kKv = kKvHeads * kHeadDim, kMaxTokens = 2048;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

uint32_t next_random(uint32_t& state) { return state = state * 1664525U + 1013904223U; }

// Random weights; the scales of blocks are small ordinary numbers.
Result<void> fill(DType type, int64_t columns, int64_t first, std::span<std::byte> out) {
  auto state = static_cast<uint32_t>(first + 1);
  for (std::byte& b : out) b = static_cast<std::byte>(next_random(state) >> 24);
  const int64_t block = info(type).bytes;
  for (size_t at = 0; columns > 0 && at < out.size(); at += static_cast<size_t>(block)) {
    const auto scale = static_cast<uint16_t>(0x1c00 + (next_random(state) >> 24));  // about 2^-8
    std::memcpy(&out[at], &scale, 2);
    if (type == DType::q4_1) std::memcpy(&out[at + 2], &scale, 2);
  }
  return {};
}

Weight weight(Ops& ops, DType type, int64_t rows, int64_t columns) {
  return *ops.pack({type, rows, columns, [=](int64_t first, int64_t, std::span<std::byte> out) {
                      return fill(type, columns, first, out);
                    }});
}

Tensor filled(Ops& ops, int64_t rows, int64_t columns) {
  Tensor tensor = *ops.make(DType::f32, rows, columns);
  std::vector<float> values(static_cast<size_t>(rows * columns));
  uint32_t state = 7;
  for (float& v : values) v = static_cast<float>(next_random(state) >> 16) * 0x1p-15F - 1;
  ops.upload(values.data(), tensor.view());
  return tensor;
}

struct Layer {
  Weight q, k, v, o, gate, up, down;
};

// What one op of a step costs, summed over the layers.
struct Account {
  std::vector<double> seconds;  // one entry a step
  double bytes = 0;             // weights of one step
  double flops = 0;
};

class Step {
 public:
  Step(Ops& ops, int64_t tokens, int64_t depth, const std::vector<Layer>& layers,
       const Weight& head)
      : ops_(ops), tokens_(tokens), depth_(depth), layers_(layers), head_(head) {
    ops_.reserve(tokens, kFfn).value();
    x_ = filled(ops, tokens, kHidden);
    normed_ = filled(ops, tokens, kHidden);
    q_ = filled(ops, tokens, kHidden);
    k_ = filled(ops, tokens, kKv);
    v_ = filled(ops, tokens, kKv);
    attended_ = filled(ops, tokens, kHidden);
    hidden_ = filled(ops, tokens, kFfn);
    logits_ = filled(ops, 1, kVocab);
    norm_ = filled(ops, 1, kHidden);
    cos_sin_ = filled(ops, kMaxTokens, kHeadDim);
    layer_.kv_heads = kKvHeads;
    layer_.head_dim = kHeadDim;
    const int64_t pages = (depth + tokens + kPageTokens - 1) / kPageTokens;
    pool_ = *ops.make(DType::u8, pages, kLayers * layer_.bytes());
    layer_.pool = pool_.view();
    for (int64_t i = 0; i < pages; ++i) pages_.push_back(static_cast<int32_t>(i));
    std::vector<int32_t> positions, ids(static_cast<size_t>(tokens), 11);
    for (int64_t t = 0; t < tokens; ++t) positions.push_back(static_cast<int32_t>(depth + t));
    positions_ = *ops.make(DType::i32, 1, tokens);
    ops.upload(positions.data(), positions_.view());
    ids_ = *ops.make(DType::i32, 1, tokens);
    ops.upload(ids.data(), ids_.view());
    segment_ = {.first_row = 0, .tokens = tokens, .position = depth, .pages = pages_};
  }

  void run() {
    const auto start = Clock::now();
    ops_.start();
    timed("embedding", 0, 0, [&] { ops_.embedding(head_, ids_.view(), x_.view()); });
    for (size_t i = 0; i < layers_.size(); ++i) run_layer(static_cast<int64_t>(i), layers_[i]);
    timed("head", weight_bytes({&head_}), 2.0 * kVocab * kHidden, [&] {
      const MatmulOut out = {.weight = &head_, .bias = {}, .out = logits_.view()};
      ops_.matmul(normed_.rows(tokens_ - 1, 1), {&out, 1});
    });
    if (auto finished = ops_.finish(); !finished) {
      std::fprintf(stderr, "%s\n", finished.error().message.c_str());
      std::exit(1);
    }
    end_step(seconds_since(start));
  }

  double median_seconds() {
    std::sort(steps_.begin(), steps_.end());
    return steps_[steps_.size() / 2];
  }

  void print() {
    const double whole = median_seconds();
    std::printf("  %-10s %9.1f us   %.0f tokens/s\n", "step", whole * 1e6,
                static_cast<double>(tokens_) / whole);
    for (auto& [name, account] : accounts_) {
      std::sort(account.seconds.begin(), account.seconds.end());
      const double s = account.seconds[account.seconds.size() / 2];
      std::printf("  %-10s %9.1f us  %5.1f %%", name.c_str(), s * 1e6, 100 * s / whole);
      if (tokens_ == 1 && account.bytes > 0) std::printf("  %6.1f GB/s", account.bytes / s * 1e-9);
      if (account.flops > 0) std::printf("  %7.1f GFLOP/s", account.flops / s * 1e-9);
      std::puts("");
    }
  }

 private:
  static double weight_bytes(std::initializer_list<const Weight*> weights) {
    double bytes = 0;
    for (const Weight* w : weights) bytes += static_cast<double>(w->bytes());
    return bytes;
  }

  void timed(const char* name, double bytes, double flops, const std::function<void()>& op) {
    const auto start = Clock::now();
    op();
    const double seconds = seconds_since(start);
    now_[name] += seconds;
    Account& account = accounts_[name];
    if (!steps_.empty()) return;
    account.bytes += bytes;
    account.flops += flops;
  }

  void end_step(double seconds) {
    steps_.push_back(seconds);
    for (auto& [name, sum] : now_) {
      accounts_[name].seconds.push_back(sum);
      sum = 0;
    }
  }

  void run_layer(int64_t index, const Layer& w) {
    const auto n = static_cast<double>(tokens_);
    layer_.layer_offset_bytes = index * layer_.bytes();
    timed("rms_norm", 0, 0, [&] { ops_.rms_norm(x_.view(), norm_.view(), 1e-5F, normed_.view()); });
    timed("qkv", weight_bytes({&w.q, &w.k, &w.v}), 2 * n * kHidden * (kHidden + 2 * kKv), [&] {
      const MatmulOut outs[] = {{.weight = &w.q, .bias = {}, .out = q_.view()},
                                {.weight = &w.k, .bias = {}, .out = k_.view()},
                                {.weight = &w.v, .bias = {}, .out = v_.view()}};
      ops_.matmul(normed_.view(), outs);
    });
    timed("rope", 0, 0, [&] {
      ops_.rope(q_.view(), kHeads, positions_.view(), cos_sin_.view());
      ops_.rope(k_.view(), kKvHeads, positions_.view(), cos_sin_.view());
    });
    timed("kv_write", 0, 0, [&] { ops_.kv_write(k_.view(), v_.view(), layer_, {&segment_, 1}); });
    const double keys = static_cast<double>(depth_) + 0.5 * (n + 1);
    timed("attention", 0, 4 * n * keys * kHidden, [&] {
      ops_.attention(q_.view(), kHeads, 0.125F, layer_, {&segment_, 1}, attended_.view());
    });
    timed("o", weight_bytes({&w.o}), 2 * n * kHidden * kHidden, [&] {
      const MatmulOut out = {.weight = &w.o, .bias = {}, .out = x_.view(), .add = true};
      ops_.matmul(attended_.view(), {&out, 1});
    });
    timed("rms_norm", 0, 0, [&] { ops_.rms_norm(x_.view(), norm_.view(), 1e-5F, normed_.view()); });
    timed("gated", weight_bytes({&w.gate, &w.up}), 4 * n * kHidden * kFfn,
          [&] { ops_.gated(normed_.view(), w.gate, w.up, hidden_.view()); });
    timed("down", weight_bytes({&w.down}), 2 * n * kHidden * kFfn, [&] {
      const MatmulOut out = {.weight = &w.down, .bias = {}, .out = x_.view(), .add = true};
      ops_.matmul(hidden_.view(), {&out, 1});
    });
  }

  Ops& ops_;
  int64_t tokens_, depth_;
  const std::vector<Layer>& layers_;
  const Weight& head_;
  Tensor x_, normed_, q_, k_, v_, attended_, hidden_, logits_, norm_, cos_sin_, pool_;
  Tensor positions_, ids_;
  KvLayer layer_;
  Segment segment_;
  std::vector<int32_t> pages_;
  std::map<std::string, double> now_;
  std::map<std::string, Account> accounts_;
  std::vector<double> steps_;
};

void measure(Isa isa, int threads, double seconds) {
  DeviceOptions options = {.parallel = threads == 1 ? serial() : Threads(threads), .isa = isa};
  Device device = *open_device("cpu", std::move(options));
  Ops& ops = device.ops();
  std::vector<Layer> layers;
  for (int64_t i = 0; i < kLayers; ++i) {
    const auto make = [&](int64_t rows, int64_t columns) {
      return weight(ops, DType::q4_1, rows, columns);
    };
    layers.push_back({make(kHidden, kHidden), make(kKv, kHidden), make(kKv, kHidden),
                      make(kHidden, kHidden), make(kFfn, kHidden), make(kFfn, kHidden),
                      make(kHidden, kFfn)});
  }
  const Weight head = weight(ops, DType::q8_0, kVocab, kHidden);
  const int64_t shapes[][2] = {{1, 64}, {1, 1024}, {8, 64}, {512, 0}};
  for (const auto& [tokens, depth] : shapes) {
    Step step(ops, tokens, depth, layers, head);
    const auto start = Clock::now();
    for (int i = 0; i < 3 || seconds_since(start) < seconds; ++i) step.run();
    std::printf("%s, %d thread(s), %ld token(s) at depth %ld\n", device.info().isa.c_str(),
                device.info().threads, static_cast<long>(tokens), static_cast<long>(depth));
    step.print();
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace mummu

int main(int argc, char** argv) {
  using mummu::Isa;
  const std::string_view isa = argc > 1 ? argv[1] : "all";
  const int threads = argc > 2 ? std::atoi(argv[2]) : 0;
  const double seconds = argc > 3 ? std::atof(argv[3]) : 1.5;
  const std::pair<std::string_view, Isa> known[] = {
      {"avx512", Isa::avx512}, {"avx2", Isa::avx2}, {"reference", Isa::reference}};
  for (const auto& [name, value] : known) {
    if (isa != name && (isa != "all" || value == Isa::reference)) continue;
    if (!mummu::cpu_has(value)) continue;
    if (threads != 0) {
      mummu::measure(value, threads, seconds);
      continue;
    }
    mummu::measure(value, 1, seconds);
    if (mummu::usable_cores() > 1) mummu::measure(value, mummu::usable_cores(), seconds);
  }
}
