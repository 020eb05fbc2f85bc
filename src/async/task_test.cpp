#include "mummu/task.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "async/test/number_channel.h"

namespace mummu::test {
namespace {

using Numbers = std::shared_ptr<NumberChannel>;

Task<int> odd(int i) { co_return i & 1; }

Task<int> sum_of(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += co_await odd(i);
  co_return sum;
}

Task<int> set(int* where, int value) {
  *where = value;
  co_return value;
}

Task<void> nothing() { co_return; }

Task<int> throwing() {
  throw std::runtime_error("mine");
  co_return 0;
}

Task<int> passing() { co_return co_await throwing(); }

TEST(Task, runs_nothing_before_it_is_waited_for) {
  int seen = 0;
  auto task = set(&seen, 7);
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(*sync_wait(std::move(task)), 7);
  EXPECT_EQ(seen, 7);
}

TEST(Task, a_task_that_nobody_runs_is_destroyed_with_its_parameters) {
  auto number = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = number;
  const auto holds = [](std::shared_ptr<int> held) -> Task<int> { co_return *held; };
  {
    auto task = holds(std::move(number));
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Task, a_million_ready_awaits_nest_nowhere) {
  EXPECT_EQ(*sync_wait(sum_of(1'000'000)), 500'000);
}

Task<int> descend(int depth) {
  if (depth == 0) co_return 0;
  co_return 1 + co_await descend(depth - 1);
}

TEST(Task, a_chain_of_a_hundred_thousand_tasks_needs_no_stack) {
  EXPECT_EQ(*sync_wait(descend(100'000)), 100'000);
}

TEST(Task, gives_what_can_only_be_moved_and_nothing_at_all) {
  const auto make = []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(3); };
  auto made = sync_wait(make());
  ASSERT_TRUE(made);
  EXPECT_EQ(**made, 3);
  EXPECT_TRUE(sync_wait(nothing()));
}

TEST(Task, an_exception_passes_from_the_inner_task_to_who_waits) {
  EXPECT_THROW((void)sync_wait(passing()), std::runtime_error);
}

TEST(Task, an_exception_can_be_caught_by_the_outer_task) {
  const auto catching = []() -> Task<std::string> {
    try {
      co_return std::to_string(co_await throwing());
    } catch (const std::runtime_error& error) {
      co_return error.what();
    }
  };
  EXPECT_EQ(*sync_wait(catching()), "mine");
}

TEST(Spawn, runs_here_until_it_suspends_and_tells_once_that_it_finished) {
  int seen = 0;
  int told = 0;
  bool finished = false;
  spawn(set(&seen, 7), [&](bool ok) {
    ++told;
    finished = ok;
  });
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(finished);
}

TEST(Spawn, the_frame_is_gone_when_done_is_called) {
  bool gone = false;
  bool gone_first = false;
  const auto holds = [](Gone) -> Task<void> { co_return; };
  spawn(holds(Gone(&gone)), [&](bool) { gone_first = gone; });
  EXPECT_TRUE(gone_first);
}

TEST(Spawn, a_task_that_throws_did_not_finish) {
  bool finished = true;
  spawn(throwing(), [&](bool ok) { finished = ok; });
  EXPECT_FALSE(finished);
}

Task<int> read_one(Numbers numbers, Shelf& shelf) {
  const int* number = co_await numbers->next(shelf.executor());
  co_return number ? *number : -1;
}

TEST(Spawn, a_done_that_throws_harms_nobody) {
  const auto numbers = std::make_shared<NumberChannel>();
  Shelf shelf;
  int seen = 0;
  const auto read = [](std::shared_ptr<NumberChannel> from, Shelf& where, int* out) -> Task<void> {
    *out = *co_await from->next(where.executor());
  };
  spawn(read(numbers, shelf, &seen), [](bool) { throw std::runtime_error("mine"); });
  numbers->push(7);
  shelf.run_one();
  EXPECT_EQ(seen, 7);
}

TEST(WhenAll, gives_the_values_in_the_order_given) {
  const auto all = sync_wait(when_all(sum_of(10), nothing(), descend(3)));
  ASSERT_TRUE(all);
  EXPECT_EQ(std::get<0>(*all), 5);
  EXPECT_EQ(std::get<2>(*all), 3);
}

TEST(WhenAll, of_none_is_ready) {
  const auto all = sync_wait(when_all(std::vector<Task<int>>()));
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->empty());
}

TEST(WhenAll, all_run_at_the_same_time_and_the_last_one_ends_it) {
  auto a = std::make_shared<NumberChannel>(), b = std::make_shared<NumberChannel>();
  Shelf shelf;
  std::vector<Task<int>> tasks;
  tasks.push_back(read_one(a, shelf));
  tasks.push_back(read_one(b, shelf));
  std::vector<int> values;
  const auto keep = [](std::vector<Task<int>> both, std::vector<int>* out) -> Task<void> {
    *out = co_await when_all(std::move(both));
  };
  bool finished = false;
  spawn(keep(std::move(tasks), &values), [&](bool ok) { finished = ok; });
  b->push(2);
  shelf.run_one();
  EXPECT_FALSE(finished);
  a->push(1);
  shelf.run_one();
  EXPECT_TRUE(finished);
  EXPECT_EQ(values, (std::vector<int>{1, 2}));
}

TEST(WhenAll, throws_the_first_exception_when_the_last_has_ended) {
  auto numbers = std::make_shared<NumberChannel>();
  Shelf shelf;
  const auto both = [](Numbers slow, Shelf& where) -> Task<std::string> {
    try {
      co_await when_all(read_one(slow, where), throwing());
    } catch (const std::runtime_error& error) {
      co_return error.what();
    }
    co_return "nothing";
  };
  std::string text;
  const auto keep = [](Task<std::string> task, std::string* out) -> Task<void> {
    *out = co_await std::move(task);
  };
  spawn(keep(both(numbers, shelf), &text));
  EXPECT_EQ(text, "");
  numbers->push(1);
  shelf.run_one();
  EXPECT_EQ(text, "mine");
}

TEST(WhenAll, is_abandoned_when_one_was_and_the_others_have_ended) {
  auto a = std::make_shared<NumberChannel>(), b = std::make_shared<NumberChannel>();
  Shelf shelf;
  bool gone = false;
  int told = 0;
  const auto both = [](Numbers x, Numbers y, Shelf& where, Gone) -> Task<void> {
    co_await when_all(read_one(x, where), read_one(y, where));
    ADD_FAILURE() << "an abandoned task went on";
  };
  spawn(both(a, b, shelf, Gone(&gone)), [&](bool ok) {
    EXPECT_FALSE(ok);
    ++told;
  });
  a->push(1);
  shelf.resumes.clear();
  EXPECT_FALSE(gone) << "the other child still runs";
  b->push(2);
  shelf.run_one();
  EXPECT_TRUE(gone);
  EXPECT_EQ(told, 1);
}

TEST(WhenAll, a_stop_reaches_all_of_them) {
  auto a = std::make_shared<NumberChannel>(), b = std::make_shared<NumberChannel>();
  Shelf shelf;
  std::stop_source stop;
  stop.request_stop();
  const auto all = sync_wait(when_all(read_one(a, shelf), read_one(b, shelf)), stop.get_token());
  ASSERT_TRUE(all);
  EXPECT_EQ(std::get<0>(*all), -1);
  EXPECT_EQ(std::get<1>(*all), -1);
}

TEST(WhenAll, a_hundred_thousand_that_are_ready_nest_nowhere) {
  const auto many = []() -> Task<int> {
    int sum = 0;
    for (int i = 0; i < 100'000; ++i) {
      const auto both = co_await when_all(odd(i), odd(i + 1));
      sum += std::get<0>(both) + std::get<1>(both);
    }
    co_return sum;
  };
  EXPECT_EQ(*sync_wait(many()), 100'000);
}

}  // namespace
}  // namespace mummu::test
