// mummu bench MODEL -p 512 -n 64: tokens a second of prefill and decode, beside what the memory can
// do in the same run. mummu bench --load: bytes a second of a load, beside what the page cache can
// do.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "mummu/generate.h"

namespace mummu::app {

namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Bytes a second that plain loads get from memory over `threads` threads: the ceiling of decode.
double read_gbps(int threads) {
  constexpr int64_t kWords = int64_t{256} << 17;  // 256 MiB, beyond any cache
  constexpr int64_t kPieces = 64;
  const auto words = std::make_unique<uint64_t[]>(kWords);
  for (int64_t i = 0; i < kWords; ++i) words[i] = static_cast<uint64_t>(i);
  std::vector<uint64_t> sums(kPieces * 8);
  Threads pool(threads);
  std::vector<double> rates;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto start = Clock::now();
    pool.for_each(kPieces, [&](int64_t piece) {
      const uint64_t* at = words.get() + piece * (kWords / kPieces);
      uint64_t lanes[16] = {};
      for (int64_t i = 0; i < kWords / kPieces; i += 16)
        for (int lane = 0; lane < 16; ++lane) lanes[lane] += at[i + lane];
      for (uint64_t lane : lanes) sums[piece * 8] += lane;
    });
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    rates.push_back(static_cast<double>(kWords) * 8 / seconds / 1e9);
  }
  return median(rates);
}

struct BenchCommand {
  std::string model = kDefaultModel;
  int64_t prompt = 512, answer = 64, repeats = 5;
  bool json = false, load_only = false;
  EngineChoice engine;
  DeviceChoice device;
  LoadChoice load;

  void run();
  void run_load();
};

struct Times {
  double prefill_tps = 0, decode_tps = 0;
};

// One request on a fresh engine: the time to its first token, then the rate of the others.
Times measure(const Model& model, const EngineOptions& options, int64_t prompt, int64_t answer) {
  std::vector<TokenId> ids(static_cast<size_t>(prompt));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<TokenId>((i * 7919 + 31) % static_cast<size_t>(model.info().vocab));
  Engine runner(model, options);
  Request request =
      take(complete(model, std::move(ids), {.max_tokens = answer + 1, .ignore_eos = true}));
  Clock::time_point first, last;
  int64_t tokens = 0;
  const auto start = Clock::now();
  take(generate(runner, std::move(request), [&](const Token& token) {
    last = Clock::now();
    if (tokens == 0) first = last;
    tokens += static_cast<int64_t>(token.ids.size());
    return Flow::go_on;
  }));
  Times times;
  times.prefill_tps =
      static_cast<double>(prompt) / std::chrono::duration<double>(first - start).count();
  if (tokens > 1)
    times.decode_tps =
        static_cast<double>(tokens - 1) / std::chrono::duration<double>(last - first).count();
  return times;
}

// Bytes a second that pread copies from the page cache, in one thread.
double pread_gbps(const std::vector<std::string>& files) {
  std::vector<char> buffer(size_t{1} << 20);
  int64_t bytes = 0;
  const auto start = Clock::now();
  for (const std::string& path : files) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(fmt::format("cannot open {}", path));
    ssize_t got = 0;
    for (off_t at = 0; (got = pread(file, buffer.data(), buffer.size(), at)) > 0; at += got)
      bytes += got;
    close(file);
  }
  return static_cast<double>(bytes) / 1e9 /
         std::chrono::duration<double>(Clock::now() - start).count();
}

// One load: how long all of it took, and its weights.
struct LoadTimes {
  double seconds = 0, weights_gbps = 0;
};

LoadTimes time_load(const std::string& path, const Device& device, Quantize quantize) {
  Clock::time_point first, last;
  LoadOptions options;
  options.quantize = quantize;
  options.on_progress = [&](const LoadProgress& progress) {
    last = Clock::now();
    if (progress.bytes == 0) first = last;
    return !interrupted();
  };
  const auto start = Clock::now();
  const Model model = take(Model::load(path, device, std::move(options)));
  const double weights = std::chrono::duration<double>(last - first).count();
  return {.seconds = std::chrono::duration<double>(Clock::now() - start).count(),
          .weights_gbps = static_cast<double>(model.info().file_bytes) / 1e9 / weights};
}

void BenchCommand::run_load() {
  Device opened = device.open();
  const std::string path = find_model(model, load.yes);
  const ModelInfo info = take(Model::inspect(path, opened, {.quantize = load.quantize}));
  pread_gbps(info.files);  // brings all of them into the page cache
  std::vector<double> cache, weights, seconds, ratios;
  for (int64_t i = 0; i < repeats; ++i) {
    cache.push_back(pread_gbps(info.files));
    const LoadTimes times = time_load(path, opened, load.quantize);
    weights.push_back(times.weights_gbps);
    seconds.push_back(times.seconds);
    ratios.push_back(times.weights_gbps / cache.back());
  }
  if (json) {
    nlohmann::ordered_json out;
    out["model"] = model;
    out["threads"] = opened.info().threads;
    out["file_bytes"] = info.file_bytes;
    out["packed_bytes"] = info.packed_bytes;
    out["load_seconds"] = median(seconds);
    out["weights_gbps"] = median(weights);
    out["pread_gbps"] = median(cache);
    out["ratio"] = median(ratios);
    fmt::print("{}\n", out.dump());
    return;
  }
  fmt::print(
      "weights {} at {:.1f} GB/s, {:.2f} of the {:.1f} GB/s that pread copies from the page cache; "
      "all of the load {:.0f} ms, {} in memory, {} threads\n",
      human_bytes(info.file_bytes), median(weights), median(ratios), median(cache),
      median(seconds) * 1e3, human_bytes(info.packed_bytes), opened.info().threads);
}

void BenchCommand::run() {
  if (load_only) return run_load();
  Device opened = device.open();
  Model loaded = load_model(model, opened, load);
  EngineOptions options = engine.options();
  options.prefix_cache = false;
  if (options.context == 0) options.context = std::min(loaded.info().context, prompt + answer + 16);
  measure(loaded, options, std::min<int64_t>(prompt, 32), 8);  // touches every page once
  std::vector<double> prefill, decode;
  for (int64_t i = 0; i < repeats; ++i) {
    const Times times = measure(loaded, options, prompt, answer);
    prefill.push_back(times.prefill_tps);
    decode.push_back(times.decode_tps);
  }
  const double ceiling = read_gbps(opened.info().threads);
  const double decode_tps = median(decode);
  const double gbps = decode_tps * static_cast<double>(loaded.info().read_bytes_per_token) / 1e9;
  if (json) {
    nlohmann::ordered_json out;
    out["model"] = model;
    out["isa"] = opened.info().isa;
    out["threads"] = opened.info().threads;
    out["prompt_tokens"] = prompt;
    out["answer_tokens"] = answer;
    out["prefill_tps"] = median(prefill);
    out["decode_tps"] = decode_tps;
    out["decode_gbps"] = gbps;
    out["read_gbps"] = ceiling;
    fmt::print("{}\n", out.dump());
    return;
  }
  fmt::print(
      "prefill {:.0f} tok/s ({} tokens), decode {:.1f} tok/s ({} tokens), {:.1f} GB/s, {:.0f} % of "
      "the {:.1f} GB/s "
      "that memory reads, {} threads, {}\n",
      median(prefill), prompt, decode_tps, answer, gbps, gbps / ceiling * 100, ceiling,
      opened.info().threads, opened.info().isa);
}

}  // namespace

void add_bench(CLI::App& app) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App* sub = app.add_subcommand("bench", "Measure prefill and decode, or a load");
  sub->add_option("model", command->model, "A file, a folder or a name")->capture_default_str();
  sub->add_option("-p,--prompt", command->prompt, "Prompt tokens")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_option("-n,--answer", command->answer, "Answer tokens")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_option("-r,--repeats", command->repeats, "Repeats; the median counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub->add_flag("--load", command->load_only, "Measure how fast the model is loaded instead");
  sub->add_flag("--json", command->json, "Print one JSON document");
  command->engine.add_to(*sub);
  command->load.add_to(*sub);
  command->device.add_to(*sub);
  sub->callback([command] { command->run(); });
}

}  // namespace mummu::app
