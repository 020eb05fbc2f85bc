// Resume: called, dropped, late, and after its frame died. The test is the driver.

#include "mummu/resume.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "async/test/await_numbers.h"

namespace mummu::test {
namespace {

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

TEST(Resume, dropped_it_leaves_a_task_that_the_host_holds) {
  const auto numbers = make_numbers();
  bool gone = false;
  int got = 0;
  {
    const auto task = store(numbers, drop_resume, &got, Gone(&gone));
    const auto root = Root::make({});
    task.frame().promise().root = root;
    Root::run(root, task.frame());
    numbers->push(5);
    EXPECT_EQ(root->wait(), Root::End::abandoned);
    EXPECT_FALSE(gone);
  }
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

// A stream with a second await on it, while the Resume of the first, whose frame died, still lies
// on the shelf.
struct LaterAwait {
  LaterAwait() {
    const Foreign dead = foreign(numbers, shelf.executor(), &first);
    numbers->push(5);
    dead.frame.destroy();
    EXPECT_EQ(*Next<int>(numbers->try_next()), 5);
    spawn(store(numbers, resume_inline, &second));
  }
  void expect_untouched() {
    EXPECT_EQ(second, 0);
    numbers->push(6);
    EXPECT_EQ(second, 6);
  }

  Numbers numbers = make_numbers();
  Shelf shelf;
  int first = 0, second = 0;
};

TEST(Resume, of_an_earlier_await_does_not_touch_a_later_one) {
  LaterAwait later;
  later.shelf.run_one();
  later.expect_untouched();
}

TEST(Resume, of_an_earlier_await_dropped_does_not_abandon_a_later_one) {
  LaterAwait later;
  later.shelf.resumes.clear();
  later.expect_untouched();
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

}  // namespace
}  // namespace mummu::test
