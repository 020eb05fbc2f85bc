// co_await on a channel, without a worker: the test is the driver.

#include "mummu/await.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>

#include "async/test/number_channel.h"

namespace mummu::test {
namespace {

using Numbers = std::shared_ptr<NumberChannel>;
using std::chrono::milliseconds;

Numbers make_numbers(std::initializer_list<int> ready = {}) {
  auto numbers = std::make_shared<NumberChannel>();
  for (int number : ready) numbers->push(number);
  return numbers;
}

Pull arm(NumberChannel& numbers, Callback<void()> function) {
  uint64_t ticket = 0;
  return numbers.on_ready(function, ticket);
}

// What a read came to: the number, or minus why not.
template <typename Where>
Task<int> read_one(Numbers numbers, Where executor) {
  const auto next = co_await numbers->next(executor);
  co_return next ? *next : -static_cast<int>(next.why());
}

template <typename Where>
Task<int> count(Numbers numbers, Where executor) {
  int read = 0;
  while (co_await numbers->next(executor)) ++read;
  co_return read;
}

template <typename Where>
Task<void> store(Numbers numbers, Where executor, int* out, Gone = Gone(nullptr)) {
  *out = co_await read_one(numbers, executor);
}

// A coroutine of some other library: it knows no Root, and its owner destroys it.
struct Foreign {
  struct promise_type {
    Foreign get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> frame;
};

template <typename Where>
Foreign foreign(Numbers numbers, Where executor, int* out, Gone = Gone(nullptr)) {
  const auto next = co_await numbers->next(executor);
  *out = next ? *next : -static_cast<int>(next.why());
}

constexpr int kCancelled = -static_cast<int>(Pull::cancelled);
constexpr int kInvalid = -static_cast<int>(Pull::invalid);
constexpr int kEnd = -static_cast<int>(Pull::end);

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
    while (co_await from->next(resume_inline)) ++*out;
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

// ---- Resume

TEST(Resume, dropped_it_makes_sync_wait_destroy_the_frames_and_return_cancelled) {
  const auto numbers = make_numbers();
  std::jthread writer([&] {
    std::this_thread::sleep_for(milliseconds(5));
    numbers->push(1);
  });
  bool gone = false;
  const auto waited = sync_wait([](Numbers from, Gone) -> Task<int> {
    co_return co_await read_one(from, drop_resume);
  }(numbers, Gone(&gone)));
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, Error::cancelled);
  EXPECT_TRUE(gone);
}

TEST(Resume, dropped_it_destroys_a_spawned_task_where_it_was_dropped) {
  const auto numbers = make_numbers();
  Shelf shelf;
  bool gone = false;
  int got = 0, told = 0;
  spawn(store(numbers, shelf.executor(), &got, Gone(&gone)), [&](bool ok) {
    EXPECT_FALSE(ok);
    EXPECT_TRUE(gone);
    ++told;
  });
  numbers->push(5);
  EXPECT_FALSE(gone);
  shelf.resumes.clear();
  EXPECT_TRUE(gone);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(got, 0) << "no line of an abandoned task runs";
}

TEST(Resume, dropped_it_leaves_the_event_and_frees_the_place) {
  const auto numbers = make_numbers();
  int got = 0;
  spawn(store(numbers, drop_resume, &got));
  numbers->push(5);
  const Next<int> next(numbers->try_next());
  ASSERT_EQ(next.why(), Pull::event);
  EXPECT_EQ(*next, 5);
}

TEST(Resume, dropped_it_leaves_a_foreign_coroutine_to_its_owner) {
  const auto numbers = make_numbers();
  bool gone = false;
  int got = 0;
  const Foreign coroutine = foreign(numbers, drop_resume, &got, Gone(&gone));
  numbers->push(5);
  EXPECT_FALSE(gone);
  EXPECT_FALSE(coroutine.frame.done());
  coroutine.frame.destroy();
  EXPECT_TRUE(gone);
  EXPECT_EQ(got, 0);
  EXPECT_EQ(*Next<int>(numbers->try_next()), 5);
}

TEST(Resume, resumes_a_foreign_coroutine) {
  const auto numbers = make_numbers();
  Shelf shelf;
  int got = 0;
  const Foreign coroutine = foreign(numbers, shelf.executor(), &got);
  numbers->push(5);
  shelf.run_one();
  EXPECT_EQ(got, 5);
  EXPECT_TRUE(coroutine.frame.done());
  coroutine.frame.destroy();
}

TEST(Resume, called_after_its_frame_died_does_nothing) {
  const auto numbers = make_numbers();
  Shelf shelf;
  int got = 0;
  const Foreign coroutine = foreign(numbers, shelf.executor(), &got);
  numbers->push(5);
  coroutine.frame.destroy();
  shelf.run_one();
  EXPECT_EQ(got, 0);
  EXPECT_EQ(*Next<int>(numbers->try_next()), 5);
}

TEST(Resume, of_an_earlier_await_does_not_touch_a_later_one) {
  const auto numbers = make_numbers();
  Shelf shelf;
  int first = 0, second = 0;
  const Foreign dead = foreign(numbers, shelf.executor(), &first);
  numbers->push(5);
  dead.frame.destroy();
  EXPECT_EQ(*Next<int>(numbers->try_next()), 5);
  spawn(store(numbers, resume_inline, &second));
  shelf.run_one();  // the old one: called
  EXPECT_EQ(second, 0);
  numbers->push(6);
  EXPECT_EQ(second, 6);
}

TEST(Resume, of_an_earlier_await_dropped_does_not_abandon_a_later_one) {
  const auto numbers = make_numbers();
  Shelf shelf;
  int first = 0, second = 0;
  const Foreign dead = foreign(numbers, shelf.executor(), &first);
  numbers->push(5);
  dead.frame.destroy();
  EXPECT_EQ(*Next<int>(numbers->try_next()), 5);
  spawn(store(numbers, resume_inline, &second));
  shelf.resumes.clear();
  numbers->push(6);
  EXPECT_EQ(second, 6);
}

TEST(Resume, an_executor_that_throws_has_dropped_it) {
  const auto numbers = make_numbers();
  bool finished = true;
  int got = 0;
  const auto throws = [](Resume) { throw std::runtime_error("mine"); };
  spawn(store(numbers, throws, &got), [&](bool ok) { finished = ok; });
  numbers->push(5);
  EXPECT_FALSE(finished);
  EXPECT_EQ(*Next<int>(numbers->try_next()), 5);
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
