// The reader's side of a stream: what it gives, its one place, its destruction, and waiting.

#include "mummu/stream.h"

#include <gtest/gtest.h>

#include <future>

#include "async/test/fake_worker.h"
#include "async/test/number_channel.h"

namespace mummu::test {
namespace {

using Kind = FakeWorker::Kind;

TEST(Stream, gives_what_the_engine_gives) {
  FakeWorker lent;
  const Request request = ask(20);
  Stream stream = lent.submit(request);
  EXPECT_EQ(stream.try_next().why(), Pull::empty);
  lent.run_out();
  EXPECT_EQ(read_now(stream), answer_to(request));
  EXPECT_TRUE(stream.done());
  EXPECT_EQ(stream.try_next().why(), Pull::end);
  const auto completion = stream.result();
  ASSERT_TRUE(completion) << completion.error().message;
  EXPECT_EQ(completion->ids, answer_to(request));
  EXPECT_EQ(completion->finish, Finish::length);
}

TEST(Stream, range_for_reads_to_the_end) {
  FakeWorker started(Kind::started);
  const Request request = ask(100);
  Stream stream = started.submit(request);
  EXPECT_EQ(read_all(stream), answer_to(request));
}

TEST(Stream, tells_every_choice_and_its_result_once) {
  FakeWorker started(Kind::started);
  Request request = ask(30);
  request.options.n = 3;
  request.options.temperature = 1;
  request.options.logprobs = true;
  Stream stream = started.submit(request);
  std::vector<std::vector<TokenId>> ids(3);
  int ends = 0;
  for (const Token& token : stream) {
    auto& mine = ids[static_cast<size_t>(token.choice)];
    mine.insert(mine.end(), token.ids.begin(), token.ids.end());
    EXPECT_EQ(token.logprobs.size(), token.ids.size());
    ends += token.finish != Finish::none;
  }
  EXPECT_EQ(ends, 3);
  for (int choice = 0; choice < 3; ++choice) {
    EXPECT_EQ(ids[static_cast<size_t>(choice)], answer_to(request, choice));
    EXPECT_EQ(stream.result(choice)->ids, answer_to(request, choice));
    EXPECT_EQ(stream.result(choice).error().code, Error::not_found);
  }
  EXPECT_EQ(stream.result(3).error().code, Error::invalid);
}

TEST(Stream, has_no_result_before_its_end_was_read) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(3));
  lent.run_out();
  EXPECT_EQ(stream.result().error().code, Error::invalid);
  read_now(stream);
  EXPECT_TRUE(stream.result());
}

TEST(Stream, that_was_moved_from_refuses) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(3));
  const Stream other = std::move(stream);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  EXPECT_EQ(stream.try_next().why(), Pull::invalid);
  EXPECT_EQ(stream.result().error().code, Error::invalid);
  EXPECT_FALSE(stream.on_ready([] {}));
  stream.cancel();
}

TEST(Stream, next_until_gives_up_in_time) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(3));
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(stream.next_until(begun + milliseconds(20)).why(), Pull::timeout);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, milliseconds(20));
  lent.run_out();
  EXPECT_TRUE(stream.next_until(begun));
}

// ---- one reader's place

TEST(Place, a_blocked_next_makes_every_other_reading_call_invalid) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(3));
  std::jthread reader([&] { EXPECT_TRUE(stream.next()); });
  wait_for([&] { return stream.try_next().why() == Pull::invalid; });
  EXPECT_EQ(stream.next().why(), Pull::invalid);
  EXPECT_EQ(stream.on_ready([] {}).error().code, Error::invalid);
  lent.turns(1);
  reader.join();
  EXPECT_NE(stream.try_next().why(), Pull::invalid);
}

TEST(Place, an_armed_on_ready_makes_every_other_reading_call_invalid) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(3));
  const auto ticket = stream.on_ready([] {});
  ASSERT_TRUE(ticket);
  EXPECT_EQ(stream.try_next().why(), Pull::invalid);
  EXPECT_EQ(stream.next().why(), Pull::invalid);
  EXPECT_EQ(stream.next_until({}).why(), Pull::invalid);
  EXPECT_EQ(stream.on_ready([] {}).error().code, Error::invalid);
  EXPECT_TRUE(stream.disarm(*ticket));
  EXPECT_EQ(stream.try_next().why(), Pull::empty);
}

TEST(Place, an_await_makes_every_other_reading_call_invalid) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(3));
  Shelf shelf;
  const auto one = [](Stream& from, Shelf& where) -> Task<void> {
    EXPECT_TRUE(co_await from.next(where.executor()));
  };
  spawn(one(stream, shelf));
  EXPECT_EQ(stream.try_next().why(), Pull::invalid);
  lent.turns(1);
  EXPECT_EQ(stream.try_next().why(), Pull::invalid);
  shelf.run_one();
  EXPECT_EQ(stream.try_next().why(), Pull::empty);
}

// ---- destruction

TEST(StreamDestructor, waits_for_a_function_that_runs_and_for_its_destruction) {
  struct Slow {
    std::atomic<bool>* done;
    explicit Slow(std::atomic<bool>* flag) : done(flag) {}
    Slow(Slow&& other) noexcept : done(std::exchange(other.done, nullptr)) {}
    Slow& operator=(Slow&&) = delete;
    ~Slow() {
      if (!done) return;
      std::this_thread::sleep_for(milliseconds(20));
      *done = true;
    }
  };
  FakeWorker lent;
  auto stream = std::make_unique<Stream>(lent.submit(ask(200)));
  std::promise<void> inside;
  std::atomic<bool> over = false;
  ASSERT_TRUE(stream->on_ready([&inside, slow = Slow(&over)] { inside.set_value(); }));
  std::jthread driver([&] { lent.turns(1); });
  inside.get_future().wait();
  stream.reset();
  EXPECT_TRUE(over);
}

TEST(StreamDestructor, does_not_wait_for_an_executor_that_is_called) {
  FakeWorker lent;
  auto stream = std::make_unique<Stream>(lent.submit(ask(200)));
  std::promise<void> inside, destroyed;
  const auto executor = [&](Resume resume) {
    inside.set_value();
    destroyed.get_future().wait();
    resume();
  };
  Pull why = Pull::event;
  const auto one = [](Stream& from, decltype(executor) where, Pull* out) -> Task<void> {
    *out = (co_await from.next(where)).why();
  };
  spawn(one(*stream, executor, &why));
  std::jthread driver([&] { lent.turns(1); });
  inside.get_future().wait();
  stream.reset();
  destroyed.set_value();
  driver.join();
  EXPECT_EQ(why, Pull::cancelled);
}

TEST(StreamDestructor, does_not_wait_for_the_step_in_progress_nor_for_pages) {
  FakeWorker started(Kind::started);
  std::promise<void> inside, destroyed;
  auto free = destroyed.get_future();
  int runs = 0;
  started.forward->during_run = [&] {
    if (++runs != 3) return;
    inside.set_value();
    free.wait();
  };
  Stream stream = started.submit(ask(50));
  inside.get_future().wait();
  stream = Stream();
  EXPECT_GT(started.worker.counts().pages_used, 0);
  destroyed.set_value();
  EXPECT_TRUE(started.worker.drain());
  EXPECT_EQ(started.worker.counts().pages_used, 0);
}

TEST(StreamDestructor, ends_a_next_that_is_blocked_in_another_thread) {
  FakeWorker lent;
  for (int round = 0; round < 200; ++round) {
    auto stream = std::make_unique<Stream>(lent.submit(ask(200)));
    Stream* raw = stream.get();
    Pull why = Pull::event;
    std::jthread reader([&] { why = raw->next().why(); });
    wait_for([&] { return raw->try_next().why() == Pull::invalid; });
    stream.reset();
    reader.join();
    ASSERT_EQ(why, Pull::cancelled);
  }
}

// ---- waiting for oneself

TEST(WaitingForOneself, is_invalid_inside_a_function_even_if_it_would_not_wait) {
  FakeWorker lent, other_lent;
  Stream stream = lent.submit(ask(200)), ready = lent.submit(ask(3));
  Stream elsewhere = other_lent.submit(ask(3));
  other_lent.run_out();
  bool called = false;
  lent.turns(2);
  ASSERT_TRUE(stream.on_ready([&] {
    // At once, on a thread that does not drive: nothing is refused.
    EXPECT_TRUE(stream.next());
  }));
  while (stream.try_next()) continue;
  ASSERT_TRUE(stream.on_ready([&] {
    EXPECT_EQ(stream.next().why(), Pull::invalid);
    EXPECT_EQ(ready.next().why(), Pull::invalid);
    EXPECT_EQ(elsewhere.next().why(), Pull::invalid) << "another worker's stream";
    EXPECT_EQ(stream.next_until({}).why(), Pull::invalid);
    EXPECT_EQ(lent.worker.drain().error().code, Error::invalid);
    EXPECT_EQ(other_lent.worker.drain().error().code, Error::invalid);
    const auto task = []() -> Task<int> { co_return 1; };
    EXPECT_EQ(sync_wait(task()).error().code, Error::invalid);
    called = true;
  }));
  lent.turns(1);
  EXPECT_TRUE(called);
  EXPECT_FALSE(drives_here());
}

// ---- a worker that nobody drives

TEST(LentAndUndriven, a_wait_lasts_until_somebody_drives) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(1));
  EXPECT_EQ(stream.next_until(std::chrono::steady_clock::now() + milliseconds(10)).why(),
            Pull::timeout);
  std::jthread driver([&] {
    std::this_thread::sleep_for(milliseconds(5));
    lent.turns(1);
  });
  EXPECT_TRUE(stream.next());
}

TEST(LentAndUndriven, a_wait_lasts_until_cancel) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(1));
  std::jthread canceller([cancel = stream.canceller()] {
    std::this_thread::sleep_for(milliseconds(5));
    cancel();
  });
  const Token* token = stream.next();
  ASSERT_NE(token, nullptr);
  EXPECT_EQ(token->finish, Finish::cancelled);
}

TEST(LentAndUndriven, a_wait_lasts_until_the_worker_s_destructor) {
  auto lent = std::make_unique<FakeWorker>();
  Stream stream = lent->submit(ask(1));
  std::jthread destroyer([&] {
    std::this_thread::sleep_for(milliseconds(5));
    lent.reset();
  });
  const Token* token = stream.next();
  ASSERT_NE(token, nullptr);
  EXPECT_EQ(token->finish, Finish::cancelled);
  EXPECT_EQ(stream.next().why(), Pull::end);
}

// ---- coroutines over a worker

TEST(StreamAwait, reads_every_token_in_order_on_a_pool) {
  FakeWorker started(Kind::started);
  const Request request = ask(300);
  Pool pool(2);
  const auto read = [](Stream stream, Pool& where) -> Task<std::vector<TokenId>> {
    std::vector<TokenId> ids;
    while (const Token* token = co_await stream.next(where.executor()))
      ids.insert(ids.end(), token->ids.begin(), token->ids.end());
    co_return ids;
  };
  EXPECT_EQ(*sync_wait(read(started.submit(request), pool)), answer_to(request));
}

TEST(StreamAwait, reads_inline_on_the_worker_s_thread) {
  FakeWorker started(Kind::started);
  const Request request = ask(300);
  const auto read = [](Stream stream) -> Task<std::vector<TokenId>> {
    std::vector<TokenId> ids;
    while (const Token* token = co_await stream.next(resume_inline))
      ids.insert(ids.end(), token->ids.begin(), token->ids.end());
    co_return ids;
  };
  EXPECT_EQ(*sync_wait(read(started.submit(request))), answer_to(request));
}

TEST(StreamAwait, a_dropped_resume_loses_no_event) {
  FakeWorker lent;
  const Request request = ask(30);
  Stream stream = lent.submit(request);
  const auto one = [](Stream& from) -> Task<void> { co_await from.next(drop_resume); };
  bool finished = true;
  spawn(one(stream), [&](bool ok) { finished = ok; });
  lent.run_out();
  EXPECT_FALSE(finished);
  EXPECT_EQ(read_now(stream), answer_to(request));
}

}  // namespace
}  // namespace mummu::test
