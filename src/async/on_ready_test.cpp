// on_ready and disarm, and by whom foreign code is called and destroyed.

#include <gtest/gtest.h>

#include <future>
#include <stdexcept>

#include "async/test/fake_worker.h"
#include "async/test/number_channel.h"
#include "mummu/stream.h"

namespace mummu::test {
namespace {

using Kind = FakeWorker::Kind;

// ---- on_ready and disarm

TEST(OnReady, is_called_once_by_the_thread_that_drives) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(20));
  int calls = 0;
  std::thread::id caller;
  ASSERT_TRUE(stream.on_ready([&] {
    ++calls;
    caller = std::this_thread::get_id();
  }));
  std::jthread driver([&] { lent.run_out(); });
  const auto driving = driver.get_id();
  driver.join();
  EXPECT_EQ(caller, driving);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(read_now(stream).size(), 20u);
}

TEST(OnReady, the_function_is_destroyed_after_its_call) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(20));
  bool called = false, gone = false;
  ASSERT_TRUE(stream.on_ready([&called, &gone, mark = Gone(&gone)] {
    called = true;
    EXPECT_FALSE(gone);
  }));
  lent.turns(1);
  EXPECT_TRUE(called);
  EXPECT_TRUE(gone);
}

TEST(Disarm, destroys_the_function_un_run_and_says_so) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(20));
  bool called = false, gone = false;
  const auto ticket = stream.on_ready([&called, mark = Gone(&gone)] { called = true; });
  EXPECT_TRUE(stream.disarm(*ticket));
  EXPECT_TRUE(gone);
  EXPECT_FALSE(stream.disarm(*ticket));
  lent.run_out();
  EXPECT_FALSE(called);
}

TEST(Disarm, with_an_old_ticket_leaves_a_later_function) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(20));
  const auto old = stream.on_ready([] {});
  ASSERT_TRUE(stream.disarm(*old));
  bool called = false;
  ASSERT_TRUE(stream.on_ready([&] { called = true; }));
  EXPECT_FALSE(stream.disarm(*old));
  lent.turns(1);
  EXPECT_TRUE(called);
}

TEST(Disarm, says_no_after_the_call) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(20));
  const auto ticket = stream.on_ready([] {});
  lent.turns(1);
  EXPECT_FALSE(stream.disarm(*ticket));
}

// Counts how deep its calls nest.
struct Nested {
  Stream& stream;
  int read = 0, depth = 0, deepest = 0;
  void go_on() {
    deepest = std::max(deepest, ++depth);
    while (const Token* token = stream.try_next()) read += static_cast<int>(token->ids.size());
    if (!stream.done()) (void)stream.on_ready([this] { go_on(); });
    --depth;
  }
};

TEST(OnReady, armed_from_inside_it_is_run_after_and_not_within) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(200));
  Nested nested{stream};
  ASSERT_TRUE(stream.on_ready([&] { nested.go_on(); }));
  lent.run_out();
  EXPECT_EQ(nested.read, 200);
  EXPECT_EQ(nested.deepest, 1);
}

TEST(OnReady, armed_by_another_thread_while_one_runs_is_run_by_that_call) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(20));
  std::promise<void> inside, armed;
  std::thread::id first, second;
  ASSERT_TRUE(stream.on_ready([&] {
    first = std::this_thread::get_id();
    inside.set_value();
    armed.get_future().wait();
  }));
  std::jthread driver([&] { lent.turns(1); });
  inside.get_future().wait();
  ASSERT_TRUE(stream.on_ready([&] { second = std::this_thread::get_id(); }));
  armed.set_value();
  driver.join();
  EXPECT_EQ(second, first);
  EXPECT_NE(second, std::this_thread::get_id());
}

TEST(OnReady, may_destroy_its_own_stream) {
  FakeWorker lent;
  auto stream = std::make_unique<Stream>(lent.submit(ask(200)));
  ASSERT_TRUE(stream->on_ready([&] { stream.reset(); }));
  lent.turns(1);
  EXPECT_EQ(stream, nullptr);
  lent.turns(1);
  EXPECT_EQ(lent.worker.counts().pages_used, 0);
  EXPECT_EQ(lent.worker.counts().streams, 0);
}

TEST(OnReady, may_call_what_does_not_block) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(200));
  Stream other;
  bool called = false;
  ASSERT_TRUE(stream.on_ready([&] {
    EXPECT_TRUE(stream.try_next());
    EXPECT_FALSE(stream.done());
    other = lent.submit(ask(3));
    EXPECT_EQ(lent.worker.counts().streams, 2);
    EXPECT_TRUE(lent.worker.status());
    (void)stream.canceller();
    const auto ticket = other.on_ready([] {});
    EXPECT_TRUE(other.disarm(*ticket));
    stream.cancel();
    called = true;
  }));
  lent.run_out();
  EXPECT_TRUE(called);
  EXPECT_EQ(read_now(other).size(), 3u);
}

TEST(OnReady, that_throws_ends_its_stream_alone) {
  FakeWorker lent;
  Stream bad = lent.submit(ask(200)), good = lent.submit(ask(20));
  ASSERT_TRUE(bad.on_ready([] { throw std::runtime_error("mine"); }));
  lent.run_out();
  EXPECT_EQ(read_now(good).size(), 20u);
  read_now(bad);
  EXPECT_TRUE(bad.done());
  EXPECT_EQ(bad.result().error().code, Error::internal);
  EXPECT_EQ(lent.worker.counts().pages_used, 0);
}

// ---- who calls

TEST(ForeignCode, is_not_called_by_cancel) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(200));
  bool called = false;
  ASSERT_TRUE(stream.on_ready([&] { called = true; }));
  stream.cancel();
  stream.canceller()();
  EXPECT_FALSE(called);
  lent.turns(1);
  EXPECT_TRUE(called);
}

TEST(ForeignCode, is_not_called_by_a_request_s_stop_token) {
  FakeWorker lent;
  std::stop_source stop;
  Request request = ask(200);
  request.options.cancel = stop.get_token();
  Stream stream = lent.submit(request);
  bool called = false;
  ASSERT_TRUE(stream.on_ready([&] { called = true; }));
  stop.request_stop();
  EXPECT_FALSE(called);
  lent.turns(1);
  EXPECT_TRUE(called);
}

TEST(ForeignCode, is_destroyed_and_not_called_by_the_stream_s_destructor) {
  FakeWorker lent;
  bool called = false, gone = false;
  {
    const Stream stream = lent.submit(ask(200));
    ASSERT_TRUE(
        const_cast<Stream&>(stream).on_ready([&called, mark = Gone(&gone)] { called = true; }));
  }
  EXPECT_TRUE(gone);
  lent.run_out();
  EXPECT_FALSE(called);
}

// Another thread takes the stream's lock and the worker's; it would wait for ever for one of ours.
void lock_elsewhere(FakeWorker& lent, const Canceller& cancel) {
  std::jthread([&] {
    cancel();
    (void)lent.worker.counts();
    (void)lent.submit(ask(1));
  }).join();
}

// Does so when it is destroyed.
struct LocksAtDeath {
  FakeWorker* lent;
  Canceller cancel;
  int* deaths;

  LocksAtDeath(FakeWorker& worker, const Stream& stream, int& count)
      : lent(&worker), cancel(stream.canceller()), deaths(&count) {}
  LocksAtDeath(LocksAtDeath&& other) noexcept
      : lent(std::exchange(other.lent, nullptr)),
        cancel(std::move(other.cancel)),
        deaths(other.deaths) {}
  LocksAtDeath& operator=(LocksAtDeath&&) = delete;
  ~LocksAtDeath() {
    if (!lent) return;
    lock_elsewhere(*lent, cancel);
    ++*deaths;
  }
};

TEST(ForeignCode, a_function_is_called_and_destroyed_under_no_lock_of_ours) {
  FakeWorker lent;
  int deaths = 0, calls = 0;
  Stream called = lent.submit(ask(200)), disarmed = lent.submit(ask(200)),
         destroyed = lent.submit(ask(200));
  ASSERT_TRUE(called.on_ready([&, mark = LocksAtDeath(lent, called, deaths)] {
    lock_elsewhere(lent, called.canceller());
    ++calls;
  }));
  const auto ticket = disarmed.on_ready([mark = LocksAtDeath(lent, disarmed, deaths)] {});
  EXPECT_TRUE(disarmed.disarm(*ticket));
  EXPECT_EQ(deaths, 1);
  ASSERT_TRUE(destroyed.on_ready([mark = LocksAtDeath(lent, destroyed, deaths)] {}));
  destroyed = Stream();
  EXPECT_EQ(deaths, 2);
  lent.turns(1);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(deaths, 3);
}

TEST(ForeignCode, an_executor_and_on_work_are_called_under_no_lock_of_ours) {
  FakeWorker lent;
  int calls = 0;
  Stream stream = lent.submit(ask(200));
  const auto executor = [&](Resume resume) {
    lock_elsewhere(lent, stream.canceller());
    ++calls;
    resume();
  };
  const auto one = [](Stream& from, decltype(executor) where) -> Task<void> {
    co_await from.next(where);
  };
  spawn(one(stream, executor));
  lent.turns(1);
  EXPECT_EQ(calls, 1);
  lent.run_out();
  ASSERT_TRUE(lent.worker.on_work([&] {
    lock_elsewhere(lent, stream.canceller());
    ++calls;
  }));
  const Stream mail = lent.submit(ask(1));
  EXPECT_EQ(calls, 2);
}

TEST(ForeignCode, an_await_is_not_resumed_by_the_stream_s_destructor) {
  FakeWorker lent;
  auto stream = std::make_unique<Stream>(lent.submit(ask(200)));
  Pull why = Pull::event;
  const auto one = [](Stream& from, Pull* out) -> Task<void> {
    *out = (co_await from.next(resume_inline)).why();
  };
  spawn(one(*stream, &why));
  stream.reset();
  EXPECT_EQ(why, Pull::event);
  lent.turns(1);
  EXPECT_EQ(why, Pull::cancelled);
}

TEST(ForeignCode, is_called_by_the_worker_s_destructor) {
  Stream stream;
  std::thread::id caller;
  {
    FakeWorker lent;
    stream = lent.submit(ask(200));
    ASSERT_TRUE(stream.on_ready([&] { caller = std::this_thread::get_id(); }));
  }
  EXPECT_EQ(caller, std::this_thread::get_id());
}

TEST(ForeignCode, is_called_by_the_caller_when_ready_at_once) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(20));
  lent.turns(1);
  std::thread::id caller;
  ASSERT_TRUE(stream.on_ready([&] { caller = std::this_thread::get_id(); }));
  EXPECT_EQ(caller, std::this_thread::get_id());
}

}  // namespace
}  // namespace mummu::test
