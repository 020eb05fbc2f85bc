// The thread pool alone: the cost of an empty for_each, and steps of 150 small for_each of about
// 33 us (a decode step of a small model), with and without a foreign process that wants a core.
// The goal with one such process on two cores: two threads keep 0.85 of one thread's speed.
//
//   pool_bench [threads] [seconds]

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "mummu/device.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

volatile uint64_t sink = 0;

// Roughly a microsecond of dependent multiplications.
void piece_of_work() {
  uint64_t x = 1;
  for (int i = 0; i < 900; ++i) {
    x = x * 6364136223846793005U + 1;
    asm volatile("" : "+r"(x));
  }
  if (x == 0) sink = x;
}

// A process that does nothing but use a core.
class Foreign {
 public:
  Foreign() : process_(fork()) {
    if (process_ != 0) return;
    for (;;) piece_of_work();
  }
  ~Foreign() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;

 private:
  pid_t process_;
};

double empty_us(mummu::Parallel& parallel) {
  constexpr int kCalls = 20000;
  const auto start = Clock::now();
  for (int i = 0; i < kCalls; ++i) parallel.for_each(2, [](int64_t) {});
  return seconds_since(start) * 1e6 / kCalls;
}

double steps_per_second(mummu::Parallel& parallel, double seconds) {
  int64_t steps = 0;
  const auto start = Clock::now();
  while (seconds_since(start) < seconds) {
    for (int i = 0; i < 150; ++i) parallel.for_each(32, [](int64_t) { piece_of_work(); });
    ++steps;
  }
  return static_cast<double>(steps) / seconds_since(start);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 3.0;
  mummu::Parallel one = mummu::serial();
  mummu::Threads many(threads);
  std::printf("empty for_each: %.2f us with %d threads\n", empty_us(many), many.width());
  const double one_alone = steps_per_second(one, seconds);
  const double many_alone = steps_per_second(many, seconds);
  std::printf("alone:              1 thread %.1f steps/s, %d threads %.1f (%.2fx)\n", one_alone,
              many.width(), many_alone, many_alone / one_alone);
  const Foreign busy;
  const double one_shared = steps_per_second(one, seconds);
  const double many_shared = steps_per_second(many, seconds);
  std::printf("beside a busy loop: 1 thread %.1f steps/s, %d threads %.1f (%.2fx)\n", one_shared,
              many.width(), many_shared, many_shared / one_shared);
  return 0;
}
