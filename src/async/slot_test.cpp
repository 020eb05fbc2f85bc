#include "mummu/slot.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "async/test/fake_worker.h"
#include "async/test/number_channel.h"

namespace mummu::test {
namespace {

using Slot = ModelSlot<std::string>;

// A load that counts and says what it made.
struct Loads {
  std::atomic<int> count = 0;
  auto of(std::string what) {
    return [this, what]() -> Result<std::string> {
      ++count;
      return "the " + what;
    };
  }
};

TEST(ModelSlot, loads_once) {
  Slot slot;
  Loads loads;
  const auto slow = [&]() -> Result<std::string> {
    std::this_thread::sleep_for(milliseconds(20));
    return loads.of("a")();
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const auto guard = slot.acquire("a", slow);
        ASSERT_TRUE(guard);
        ASSERT_EQ(**guard, "the a");
      }
    });
  threads.clear();
  EXPECT_EQ(loads.count, 1);
  EXPECT_EQ(slot.loaded_key(), "a");
}

TEST(ModelSlot, another_key_replaces_what_nobody_uses) {
  Slot slot;
  Loads loads;
  EXPECT_EQ(**slot.acquire("a", loads.of("a")), "the a");
  EXPECT_EQ(**slot.acquire("b", loads.of("b")), "the b");
  EXPECT_EQ(slot.loaded_key(), "b");
  EXPECT_EQ(loads.count, 2);
}

TEST(ModelSlot, the_old_one_is_dropped_before_the_new_is_loaded) {
  struct Counted {
    using thread_members = ThreadMembers<>;
    std::atomic<int>* alive;
    explicit Counted(std::atomic<int>* count) : alive(count) { ++*alive; }
    Counted(Counted&& other) noexcept : alive(std::exchange(other.alive, nullptr)) {}
    Counted& operator=(Counted&&) = delete;
    ~Counted() {
      if (alive) --*alive;
    }
  };
  std::atomic<int> alive = 0;  // the slot's last one still counts
  ModelSlot<Counted> slot;
  const auto load = [&]() -> Result<Counted> {
    EXPECT_EQ(alive, 0);
    return Counted(&alive);
  };
  ASSERT_TRUE(slot.acquire("a", load));
  EXPECT_EQ(alive, 1);
  ASSERT_TRUE(slot.acquire("b", load));
  EXPECT_EQ(alive, 1);
}

TEST(ModelSlot, another_key_waits_while_a_guard_lives) {
  Slot slot;
  Loads loads;
  auto guard = slot.acquire("a", loads.of("a"));
  std::atomic<bool> got = false;
  std::jthread other([&] {
    EXPECT_EQ(**slot.acquire("b", loads.of("b")), "the b");
    got = true;
  });
  std::this_thread::sleep_for(milliseconds(10));
  EXPECT_FALSE(got);
  EXPECT_EQ(**guard, "the a");
  *guard = nullptr;
  other.join();
  EXPECT_TRUE(got);
}

TEST(ModelSlot, a_failed_load_leaves_it_empty_and_the_next_one_tries) {
  Slot slot;
  Loads loads;
  const auto failing = []() -> Result<std::string> { return Error{Error::io, "no disk"}; };
  EXPECT_EQ(slot.acquire("a", failing).error().code, Error::io);
  EXPECT_EQ(slot.loaded_key(), "");
  EXPECT_EQ(**slot.acquire("a", loads.of("a")), "the a");
}

TEST(ModelSlot, a_load_that_throws_gives_the_turn_back) {
  Slot slot;
  Loads loads;
  const auto throwing = []() -> Result<std::string> { throw std::runtime_error("mine"); };
  EXPECT_THROW((void)slot.acquire("a", throwing), std::runtime_error);
  EXPECT_EQ(**slot.acquire("a", loads.of("a")), "the a");
}

TEST(ModelSlot, an_empty_key_is_invalid) {
  Slot slot;
  Loads loads;
  EXPECT_EQ(slot.acquire("", loads.of("a")).error().code, Error::invalid);
  EXPECT_EQ(slot.try_acquire(""), nullptr);
  EXPECT_EQ(loads.count, 0);
}

TEST(ModelSlot, try_acquire_never_loads) {
  Slot slot;
  Loads loads;
  EXPECT_EQ(slot.try_acquire("a"), nullptr);
  ASSERT_TRUE(slot.acquire("a", loads.of("a")));
  const auto guard = slot.try_acquire("a");
  ASSERT_NE(guard, nullptr);
  EXPECT_EQ(*guard, "the a");
  EXPECT_EQ(slot.try_acquire("b"), nullptr);
}

TEST(ModelSlot, clear_is_false_while_it_is_used_or_loaded_and_never_waits) {
  Slot slot;
  Loads loads;
  EXPECT_TRUE(slot.clear());
  auto guard = slot.acquire("a", loads.of("a"));
  EXPECT_FALSE(slot.clear());
  *guard = nullptr;
  EXPECT_TRUE(slot.clear());
  EXPECT_EQ(slot.loaded_key(), "");
  const auto inside = [&]() -> Result<std::string> {
    EXPECT_FALSE(slot.clear());
    EXPECT_EQ(slot.loaded_key(), "");
    return std::string("b");
  };
  EXPECT_TRUE(slot.acquire("b", inside));
}

TEST(ModelSlot, clear_is_false_while_an_engine_s_worker_keeps_the_guard) {
  Slot slot;
  Loads loads;
  auto guard = slot.acquire("a", loads.of("a"));
  {
    Worker worker(cpu());
    FakeEngine fake;
    ASSERT_TRUE(worker.add(std::move(fake.engine), *std::exchange(guard, Slot::Guard())));
    EXPECT_FALSE(slot.clear());
  }
  EXPECT_TRUE(slot.clear());
}

TEST(ModelSlot, with_gives_what_the_function_gives) {
  Slot slot;
  Loads loads;
  const auto size = [](const std::string& text) { return text.size(); };
  EXPECT_EQ(*slot.with("a", loads.of("a"), size), 5u);
  EXPECT_TRUE(slot.clear()) << "the guard is gone";
  EXPECT_TRUE(slot.with("a", loads.of("a"), [](const std::string&) {}));
}

TEST(ModelSlot, a_guard_outlives_its_slot) {
  Slot::Guard guard;
  {
    Slot slot;
    Loads loads;
    guard = *slot.acquire("a", loads.of("a"));
  }
  EXPECT_EQ(*guard, "the a");
}

TEST(ModelSlot, waiting_on_a_thread_that_drives_is_invalid) {
  Slot slot;
  Loads loads;
  const auto guard = slot.acquire("a", loads.of("a"));
  FakeWorker lent;
  Stream stream = lent.submit(ask(3));
  bool called = false;
  ASSERT_TRUE(stream.on_ready([&] {
    EXPECT_EQ(slot.acquire("b", loads.of("b")).error().code, Error::invalid);
    called = true;
  }));
  lent.turns(1);
  EXPECT_TRUE(called);
}

TEST(ModelSlotAwait, waits_without_a_thread_and_loads_where_the_coroutine_goes_on) {
  Slot slot;
  Loads loads;
  Shelf shelf;
  auto guard = slot.acquire("a", loads.of("a"));
  std::string got;
  const auto one = [](Slot& from, Loads& by, Shelf& where, std::string* out) -> Task<void> {
    const auto mine = co_await from.acquire("b", by.of("b"), where.executor());
    if (mine) *out = **mine;
  };
  spawn(one(slot, loads, shelf, &got));
  EXPECT_TRUE(shelf.resumes.empty());
  *guard = nullptr;
  ASSERT_EQ(shelf.resumes.size(), 1u);
  EXPECT_EQ(loads.count, 1);
  shelf.run_one();
  EXPECT_EQ(got, "the b");
}

TEST(ModelSlotAwait, a_stop_ends_the_wait) {
  Slot slot;
  Loads loads;
  const auto guard = slot.acquire("a", loads.of("a"));
  std::stop_source stop;
  stop.request_stop();
  const auto waited = sync_wait(slot.acquire("b", loads.of("b"), resume_inline), stop.get_token());
  ASSERT_TRUE(waited);
  EXPECT_EQ(waited->error().code, Error::cancelled);
}

TEST(ModelSlotStress, many_threads_and_keys_never_see_a_wrong_thing) {
  Slot slot;
  Pool pool(2);
  std::atomic<int> tasks = 0;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < 6; ++i)
    threads.emplace_back([&, i] {
      for (unsigned round = 0; round < 300; ++round) {
        const std::string key(1, static_cast<char>('a' + (i * 7 + round * 5) % 3));
        const auto load = [key]() -> Result<std::string> {
          if (key == "c") return Error{Error::io, "never"};
          return key;
        };
        if (round % 3 == 0) {
          slot.clear();
        } else if (round % 3 == 1) {
          const auto guard = slot.acquire(key, load);
          ASSERT_EQ(guard.has_value(), key != "c");
          ASSERT_EQ(guard ? **guard : "c", key);
        } else {
          const auto one = [](Slot& from, std::string wanted, decltype(load) by,
                              Pool& where) -> Task<void> {
            const auto guard = co_await from.acquire(wanted, by, where.executor());
            EXPECT_EQ(guard ? **guard : "c", wanted);
          };
          ++tasks;
          spawn(one(slot, key, load, pool), [&](bool) { --tasks; });
        }
      }
    });
  threads.clear();
  wait_for([&] { return tasks == 0; });
  EXPECT_TRUE(slot.clear());
}

}  // namespace
}  // namespace mummu::test
