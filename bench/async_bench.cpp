// What the skin costs over a bare engine, with a fake model whose steps take as long as said:
//   async_bench [STEP_US...]
// With steps only the rates for them are measured. Rates are ratios of the best of runs that
// alternate, because other programs only take time away; latencies are from the end of the model's
// step to the moment at which the reader has the event.

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/fake_engine.h"
#include "mummu/task.h"
#include "mummu/worker.h"

namespace mummu {
namespace {

using Clock = std::chrono::steady_clock;
using test::FakeEngine;

constexpr int64_t kContext = 1024;

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

std::atomic<int64_t> step_ended{0};  // steady clock, ns

// An engine whose steps take `us`.
FakeEngine make_engine(double us) {
  FakeEngine fake(
      {.context = kContext, .engine = {.kv_tokens = 64 * kContext, .prefix_cache = false}});
  fake.forward->during_run = [us] {
    const auto begin = Clock::now();
    while (us_since(begin) < us) continue;
    step_ended = Clock::now().time_since_epoch().count();
  };
  return fake;
}

Request ask(int64_t tokens, TokenId first = 1) {
  return test::fake_request({first, 2, 3}, {.max_tokens = tokens});
}

// Runs what it is given, on one thread.
class Loop {
 public:
  Loop() : thread_([this] { run(); }) {}
  ~Loop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      changed_.notify_one();
    }
    thread_.join();
  }
  auto executor() {
    return [this](Resume resume) {
      const std::lock_guard lock(mutex_);
      posted_.push_back(std::move(resume));
      changed_.notify_one();
    };
  }

 private:
  void run() {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || !posted_.empty(); });
      if (posted_.empty()) return;
      Resume resume = std::move(posted_.front());
      posted_.pop_front();
      lock.unlock();
      resume();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Resume> posted_;
  bool stop_ = false;
  std::thread thread_;
};

double bare_seconds(double us, int streams, int64_t tokens) {
  FakeEngine fake = make_engine(us);
  std::vector<RequestId> ids;
  for (int i = 0; i < streams; ++i) ids.push_back(*fake.engine.admit(ask(tokens, i)));
  const auto begin = Clock::now();
  while (fake.engine.has_work()) {
    (void)fake.engine.step();
    for (const RequestId id : ids)
      while (fake.engine.take(id)) continue;
  }
  return us_since(begin) * 1e-6;
}

Task<void> read_all(Stream stream, Loop& loop) {
  while ([[maybe_unused]] const Token* token = co_await stream.next(loop.executor())) continue;
}

double worker_seconds(const Device& device, double us, int streams, int64_t tokens,
                      bool coroutines) {
  FakeEngine fake = make_engine(us);
  Worker worker(device);
  (void)worker.add(std::move(fake.engine));
  Loop loop;
  std::atomic<int> left = streams;
  std::vector<std::jthread> readers;
  for (int i = 0; i < streams; ++i) {
    Stream stream = *worker.submit(ask(tokens, i));
    if (coroutines)
      spawn(read_all(std::move(stream), loop), [&](bool) { --left; });
    else
      readers.emplace_back([&left, own = std::move(stream)]() mutable {
        while (own.next()) continue;
        --left;
      });
  }
  const auto begin = Clock::now();
  (void)worker.drain();
  const double seconds = us_since(begin) * 1e-6;
  while (left > 0) std::this_thread::yield();
  return seconds;
}

void rates(const Device& device, const std::vector<double>& steps_us) {
  fmt::print("worker / bare engine, tokens a second (the best of 7 runs each, in turn)\n");
  for (const double us : steps_us)
    for (const int streams : {1, 16})
      for (const bool coroutines : {false, true}) {
        const auto tokens = std::min<int64_t>(900, static_cast<int64_t>(600'000 / us));
        double bare = 1e9, ours = 1e9;
        for (int i = 0; i < 7; ++i) {
          bare = std::min(bare, bare_seconds(us, streams, tokens));
          ours = std::min(ours, worker_seconds(device, us, streams, tokens, coroutines));
        }
        fmt::print("  steps of {:4.0f} us, {:2} {}: {:.4f}, {:+.1f} us a step\n", us, streams,
                   coroutines ? "coroutines on one thread" : "waiting threads         ",
                   bare / ours, (ours - bare) * 1e6 / static_cast<double>(tokens));
      }
}

void print_latency(const char* what, std::vector<double>& us) {
  std::sort(us.begin(), us.end());
  fmt::print("  {}: p50 {:.1f} us, p99 {:.1f} us\n", what, us[us.size() / 2],
             us[us.size() * 99 / 100]);
}

double us_since_step() {
  return static_cast<double>(Clock::now().time_since_epoch().count() - step_ended) * 1e-3;
}

Task<void> time_all(Stream stream, Loop& loop, std::vector<double>& us) {
  while ([[maybe_unused]] const Token* token = co_await stream.next(loop.executor()))
    us.push_back(us_since_step());
}

void latencies(const Device& device) {
  fmt::print("step's end -> the reader has the event (steps of 300 us)\n");
  FakeEngine fake = make_engine(300);
  auto worker = *Worker::start(device);
  (void)worker.add(std::move(fake.engine));
  std::vector<double> us;
  Stream stream = *worker.submit(ask(900));
  while (stream.next()) us.push_back(us_since_step());
  print_latency("thread in next()", us);
  us.clear();
  Loop loop;
  (void)sync_wait(time_all(*worker.submit(ask(900)), loop, us));
  print_latency("coroutine on a loop", us);
}

void cancels(const Device& device) {
  fmt::print("stream destroyed -> pages free (steps of 1000 us)\n");
  for (const bool prefill : {false, true}) {
    FakeEngine fake(
        {.context = kContext,
         .engine = {
             .kv_tokens = 2 * kContext, .step_tokens = prefill ? 8 : 0, .prefix_cache = false}});
    std::atomic<int64_t> steps = 0;  // that have ended
    fake.forward->during_run = [&] {
      const auto begin = Clock::now();
      while (us_since(begin) < 1000) continue;
      ++steps;
    };
    auto worker = *Worker::start(device);
    (void)worker.add(std::move(fake.engine));
    std::vector<double> us;
    int64_t steps_after = 0;
    for (int i = 0; i < 200; ++i) {
      Request request = ask(800);
      if (prefill) request.prompt.assign(900, 5);
      if (prefill) request.options.max_tokens = 10;
      Stream stream = *worker.submit(request);
      std::this_thread::sleep_for(std::chrono::microseconds(3000 + 13 * i));
      const auto begin = Clock::now();
      stream = Stream();
      const int64_t destroyed = steps;
      while (worker.counts().streams > 0)
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      us.push_back(us_since(begin));
      steps_after = std::max(steps_after, steps - destroyed);
    }
    print_latency(prefill ? "in mid-prefill" : "in decode", us);
    fmt::print("  largest {:.0f} us; steps that ended after it: at most {}\n", us.back(),
               steps_after);
  }
}

int64_t voluntary_switches() {
  int64_t sum = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "status");
    std::string word;
    while (file >> word)
      if (word == "voluntary_ctxt_switches:") {
        int64_t switches = 0;
        file >> switches;
        sum += switches;
      }
  }
  return sum;
}

void idle(const Device& device) {
  auto worker = *Worker::start(device);
  (void)worker.add(std::move(make_engine(0).engine));
  Stream stream = *worker.submit(ask(5));
  while (stream.next()) continue;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const int64_t before = voluntary_switches();
  std::this_thread::sleep_for(std::chrono::seconds(2));
  // One is this thread's own sleep.
  fmt::print("idle for two seconds: {} wake-ups\n", voluntary_switches() - before - 1);
}

void memory(const Device& device) {
  FakeEngine fake = make_engine(0);
  Worker worker(device);
  (void)worker.add(std::move(fake.engine));
  (void)worker.run_once();
  std::vector<Stream> streams;
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 1000; ++i) streams.push_back(*worker.submit(ask(100, i % 60)));
  const size_t empty = mallinfo2().uordblks;
  while (*worker.run_once() == Turn::more) continue;
  const size_t paused = mallinfo2().uordblks;
  fmt::print(
      "1000 streams: {:.1f} KB each when submitted; {:.1f} KB when paused, with the "
      "engine's own share\n",
      static_cast<double>(empty - before) / 1e6, static_cast<double>(paused - before) / 1e6);
  const auto begin = Clock::now();
  streams.clear();
  (void)worker.run_once();
  fmt::print("1000 cancelled in {:.0f} us\n", us_since(begin));
}

int run(const std::vector<double>& steps_us) {
  const auto device = open_device("cpu");
  if (!device) return 1;
  if (!steps_us.empty()) {
    rates(*device, steps_us);
    return 0;
  }
  latencies(*device);
  cancels(*device);
  idle(*device);
  memory(*device);
  rates(*device, {100, 500, 1000, 2000});
  return 0;
}

}  // namespace
}  // namespace mummu

int main(int argc, char** argv) {
  std::vector<double> steps_us;
  for (int i = 1; i < argc; ++i) steps_us.push_back(std::atof(argv[i]));
  return mummu::run(steps_us);
}
