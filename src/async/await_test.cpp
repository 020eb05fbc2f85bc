// co_await on a channel, without a worker: the test is the driver.

#include "mummu/await.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "async/test/await_numbers.h"

namespace mummu::test {
namespace {

TEST(Await, a_ready_stream_never_suspends) {
  Shelf shelf;
  EXPECT_EQ(*sync_wait(read_one(make_numbers({5}), shelf.executor())), 5);
  EXPECT_TRUE(shelf.resumes.empty());
}

TEST(Await, a_million_ready_awaits_of_a_stream) {
  const auto numbers = make_numbers();
  for (int i = 0; i < 1'000'000; ++i) numbers->push(i);
  numbers->end();
  EXPECT_EQ(*sync_wait(count(numbers, drop_resume)), 1'000'000);
}

TEST(Await, goes_on_where_the_executor_says) {
  const auto numbers = make_numbers();
  Shelf shelf;
  int got = 0;
  spawn(store(numbers, shelf.executor(), &got));
  numbers->push(5);
  EXPECT_EQ(got, 0);
  ASSERT_EQ(shelf.resumes.size(), 1u);
  shelf.run_one();
  EXPECT_EQ(got, 5);
}

TEST(Await, an_inline_executor_goes_on_inside_the_push) {
  const auto numbers = make_numbers();
  int got = 0;
  spawn(store(numbers, resume_inline, &got));
  numbers->push(5);
  EXPECT_EQ(got, 5);
}

TEST(Await, a_hundred_thousand_inline_resumptions_nest_nowhere) {
  const auto numbers = make_numbers();
  int read = 0;
  const auto reading = [](Numbers from, int* out) -> Task<void> {
    while ([[maybe_unused]] const int* number = co_await from->next(resume_inline)) ++*out;
  };
  spawn(reading(numbers, &read));
  for (int i = 0; i < 100'000; ++i) numbers->push(i);
  EXPECT_EQ(read, 100'000);
  numbers->end();
}

TEST(Await, a_pool_of_threads_reads_everything_in_order) {
  const auto numbers = make_numbers();
  Pool pool(2);
  std::jthread writer([&] {
    for (int i = 0; i < 10'000; ++i) numbers->push(i);
    numbers->end();
  });
  const auto ordered = [](Numbers from, Pool& where) -> Task<int> {
    int expected = 0;
    while (const int* number = co_await from->next(where.executor()))
      if (*number != expected++) co_return -1;
    co_return expected;
  };
  EXPECT_EQ(*sync_wait(ordered(numbers, pool)), 10'000);
}

TEST(Await, the_end_is_a_reason_to_resume) {
  const auto numbers = make_numbers();
  int got = 0;
  spawn(store(numbers, resume_inline, &got));
  numbers->end();
  EXPECT_EQ(got, kEnd);
}

// ---- the reader's place

TEST(Await, holds_the_place_until_it_has_returned) {
  const auto numbers = make_numbers();
  Shelf shelf;
  int got = 0;
  spawn(store(numbers, shelf.executor(), &got));
  EXPECT_EQ(numbers->try_next().why, Pull::invalid);
  numbers->push(5);
  EXPECT_EQ(numbers->try_next().why, Pull::invalid) << "posted, not yet resumed";
  EXPECT_EQ(arm(*numbers, [] {}), Pull::invalid);
  EXPECT_EQ(numbers->next_until(SteadyTime::max()).why, Pull::invalid);
  EXPECT_EQ(*sync_wait(read_one(numbers, drop_resume)), kInvalid);
  shelf.run_one();
  EXPECT_EQ(got, 5);
  EXPECT_EQ(numbers->try_next().why, Pull::empty);
}

TEST(Await, a_frame_that_dies_while_it_waits_frees_the_place) {
  const auto numbers = make_numbers();
  int got = 0;
  const Foreign coroutine = foreign(numbers, resume_inline, &got);
  coroutine.frame.destroy();
  EXPECT_EQ(numbers->try_next().why, Pull::empty);
  numbers->push(5);
  EXPECT_EQ(*Next<int>(numbers->try_next()), 5);
}

// ---- stop

TEST(Await, a_stop_ends_the_wait_and_not_the_stream) {
  const auto numbers = make_numbers();
  Shelf shelf;
  std::stop_source stop;
  int got = 0;
  spawn(store(numbers, resume_inline, &got), [](bool) {}, stop.get_token());
  stop.request_stop();
  EXPECT_EQ(got, kCancelled);
  numbers->push(5);
  EXPECT_EQ(*Next<int>(numbers->try_next()), 5);
}

TEST(Await, a_stop_that_came_before_still_delivers_what_is_there) {
  const auto numbers = make_numbers({1, 2});
  std::stop_source stop;
  stop.request_stop();
  const auto all = [](Numbers from) -> Task<int> {
    int read = 0;
    while (true) {
      const auto next = co_await from->next(drop_resume);
      if (!next) co_return next.why() == Pull::cancelled ? read : -1;
      ++read;
    }
  };
  EXPECT_EQ(*sync_wait(all(numbers), stop.get_token()), 2);
}

TEST(Await, a_stop_goes_through_the_executor) {
  const auto numbers = make_numbers();
  Shelf shelf;
  std::stop_source stop;
  int got = 0;
  spawn(store(numbers, shelf.executor(), &got), [](bool) {}, stop.get_token());
  stop.request_stop();
  EXPECT_EQ(got, 0);
  shelf.run_one();
  EXPECT_EQ(got, kCancelled);
}

TEST(Await, the_executor_is_called_by_the_thread_that_requests_stop) {
  const auto numbers = make_numbers();
  std::stop_source stop;
  std::thread::id caller;
  int got = 0;
  const auto executor = [&](Resume resume) {
    caller = std::this_thread::get_id();
    resume();
  };
  spawn(store(numbers, executor, &got), [](bool) {}, stop.get_token());
  std::thread::id stopping;
  std::jthread([&] {
    stopping = std::this_thread::get_id();
    stop.request_stop();
  }).join();
  EXPECT_EQ(caller, stopping);
  EXPECT_EQ(got, kCancelled);
}

TEST(Await, stops_and_events_from_two_threads_lose_nothing) {
  for (int round = 0; round < 2000; ++round) {
    const auto numbers = make_numbers();
    std::stop_source stop;
    Pool pool(1);
    std::jthread writer([&] { numbers->push(5); });
    std::jthread stopper([&] { stop.request_stop(); });
    const auto got = sync_wait(read_one(numbers, pool.executor()), stop.get_token());
    ASSERT_TRUE(got);
    if (*got == 5) continue;
    ASSERT_EQ(*got, kCancelled);
    writer.join();
    ASSERT_EQ(*Next<int>(numbers->try_next()), 5);
  }
}

// ---- callbacks and blocking reads of the same block

TEST(OnReady, is_called_at_once_when_something_is_there) {
  const auto numbers = make_numbers({5});
  bool called = false;
  EXPECT_EQ(arm(*numbers, [&] { called = true; }), Pull::event);
  EXPECT_TRUE(called);
}

TEST(OnReady, a_function_that_throws_ends_its_stream) {
  const auto numbers = make_numbers({5});
  arm(*numbers, [] { throw std::runtime_error("mine"); });
  EXPECT_EQ(*Next<int>(numbers->try_next()), 5);
  EXPECT_TRUE(numbers->done());
}

TEST(OnReady, calling_again_from_inside_does_not_nest) {
  const auto numbers = make_numbers();
  for (int i = 0; i < 100'000; ++i) numbers->push(i);
  struct Reader {
    Numbers from;
    int read = 0, depth = 0, deepest = 0;
    void go_on() {
      deepest = std::max(deepest, ++depth);
      if (from->try_next().why == Pull::event) {
        ++read;
        arm(*from, [this] { go_on(); });
      }
      --depth;
    }
  } reader{numbers};
  reader.go_on();
  EXPECT_EQ(reader.read, 100'000);
  EXPECT_LE(reader.deepest, 2);  // the first call is the test's own
  numbers->detach();
}

}  // namespace
}  // namespace mummu::test
