#include "device/threads.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <numeric>
#include <thread>

#include "base/allocation_count.h"

namespace mummu {
namespace {

// Runs a round of `count` pieces that each add to their own plain counter: a piece that ran twice,
// never, or without ordering against the caller's reads is seen (the last by TSan).
void expect_each_piece_once(Parallel& parallel, int64_t count) {
  std::vector<int> times(static_cast<size_t>(count));
  parallel.for_each(count, [&](int64_t i) { ++times[static_cast<size_t>(i)]; });
  for (int64_t i = 0; i < count; ++i) ASSERT_EQ(times[static_cast<size_t>(i)], 1) << "piece " << i;
}

// Rounds up only under FE_UPWARD and like modes. (fegetround would look at the x87 unit, which
// computes nothing here.)
volatile float one = 1.0F;
volatile float small = 0x1p-30F;
bool in_default_mode() { return one + small == 1.0F && -one - small == -1.0F; }

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

TEST(Threads, one_thread_and_fewer_are_serial) {
  EXPECT_EQ(Threads(1).width(), 1);
  EXPECT_EQ(Threads(-3).width(), 1);
  EXPECT_GE(Threads(0).width(), 1);
  EXPECT_EQ(Threads(3).width(), 3);
}

TEST(Threads, every_piece_runs_exactly_once) {
  for (int width = 2; width <= 4; ++width) {
    Threads threads(width);
    for (int64_t round = 0; round < 2000; ++round) expect_each_piece_once(threads, round % 40);
  }
}

TEST(Threads, helpers_that_fell_asleep_wake_up_for_the_next_round) {
  Threads threads(3);
  for (int round = 0; round < 10; ++round) {
    sleep_ms(2);
    expect_each_piece_once(threads, 64);
  }
}

TEST(Threads, a_pool_may_die_while_its_helpers_spin_or_sleep) {
  for (int i = 0; i < 20; ++i) {
    Threads threads(4);
    if (i % 2 == 0) expect_each_piece_once(threads, 8);
    if (i % 4 == 0) sleep_ms(1);
  }
}

TEST(Threads, more_threads_than_cores_and_two_pools_at_once_stay_correct) {
  const auto drive = [] {
    Threads threads(6);
    for (int round = 0; round < 300; ++round) expect_each_piece_once(threads, 50);
  };
  std::thread other(drive);
  drive();
  other.join();
}

TEST(Threads, a_round_sees_what_the_caller_wrote_and_the_caller_what_the_round_wrote) {
  Threads threads(4);
  std::vector<int64_t> numbers(100);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (int round = 0; round < 500; ++round) {
    threads.for_each(100, [&](int64_t i) { numbers[static_cast<size_t>(i)] += 1; });
    numbers[0] += 1;
  }
  EXPECT_EQ(numbers[0], 1000);
  EXPECT_EQ(numbers[99], 599);
}

TEST(Threads, helpers_compute_in_the_default_float_environment) {
  std::fesetround(FE_DOWNWARD);
  Threads threads(3);
  std::fesetround(FE_TONEAREST);
  std::atomic<int> other_modes{0};
  const auto caller = std::this_thread::get_id();
  for (int round = 0; round < 50; ++round) {
    threads.for_each(64, [&](int64_t) {
      if (std::this_thread::get_id() == caller) return;
      if (!in_default_mode()) ++other_modes;
    });
  }
  EXPECT_EQ(other_modes.load(), 0);
}

// Each of them takes one piece and waits for the others: a helper that has not started yet may
// still allocate.
void wait_until_all_run(Threads& threads, int64_t count) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::atomic<int64_t> arrived = 0;
  threads.for_each(count, [&](int64_t) {
    ++arrived;
    while (arrived < count && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  });
}

TEST(Threads, a_round_allocates_nothing) {
  Threads threads(3);
  int64_t sums[64] = {};
  wait_until_all_run(threads, 3);
  EXPECT_EQ(test::count_allocations([&] {
              for (int round = 0; round < 100; ++round) {
                threads.for_each(64, [&](int64_t i) { sums[i] += i; });
              }
            }),
            0);
}

TEST(Threads, idle_helpers_use_no_processor_time) {
  Threads threads(3);
  expect_each_piece_once(threads, 64);
  sleep_ms(5);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  sleep_ms(50);
  getrusage(RUSAGE_SELF, &after);
  const auto us = [](const rusage& r) {
    return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1'000'000 + r.ru_utime.tv_usec +
           r.ru_stime.tv_usec;
  };
  EXPECT_LT(us(after) - us(before), 20'000);
}

// A pool of the host: three threads a round, each in the host's own rounding.
class RoundingPool final : public Parallel::Pool {
 public:
  int width() const override { return 3; }
  void for_each(int64_t count, void (*work)(void*, int64_t), void* context) override {
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([=] {
        std::fesetround(FE_UPWARD);
        for (int64_t i = t; i < count; i += 3) work(context, i);
      });
    }
    for (auto& thread : threads) thread.join();
  }
};

TEST(Parallel, a_hosts_pool_computes_in_the_default_float_environment) {
  Parallel parallel(std::make_unique<RoundingPool>());
  EXPECT_EQ(parallel.width(), 3);
  std::atomic<int> other_modes{0};
  parallel.for_each(30, [&](int64_t) {
    if (!in_default_mode()) ++other_modes;
  });
  EXPECT_EQ(other_modes.load(), 0);
  expect_each_piece_once(parallel, 31);
}

TEST(Parallel, no_pool_is_serial) {
  Parallel parallel(nullptr);
  EXPECT_EQ(parallel.width(), 1);
  expect_each_piece_once(parallel, 5);
}

}  // namespace
}  // namespace mummu
