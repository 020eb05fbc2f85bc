// Lending threads, draining, stopping, and the end of a Worker.

#include <gtest/gtest.h>

#include <future>

#include "async/test/fake_worker.h"
#include "async/test/number_channel.h"

namespace mummu::test {
namespace {

using Kind = FakeWorker::Kind;

// ---- run, run_once, run_for

TEST(Run, returns_when_stop_is_requested_and_cancels_nothing) {
  FakeWorker lent;
  const Request request = ask(400);
  Stream stream = lent.submit(request);
  std::stop_source stop;
  int tokens = 0;
  struct Reader {
    Stream& stream;
    std::stop_source& stop;
    int& tokens;
    void go_on() {
      while (stream.try_next()) ++tokens;
      if (tokens >= 10) stop.request_stop();
      if (!stream.done()) (void)stream.on_ready([this] { go_on(); });
    }
  } reader{stream, stop, tokens};
  ASSERT_TRUE(stream.on_ready([&] { reader.go_on(); }));
  ASSERT_TRUE(lent.worker.run(stop.get_token()));
  EXPECT_EQ(tokens, 10) << "the step in progress is the last";
  lent.run_out();
  EXPECT_EQ(tokens, 400);
  EXPECT_EQ(stream.result()->ids, answer_to(request));
}

TEST(Run, wakes_for_a_stop_while_it_sleeps) {
  FakeWorker lent;
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(milliseconds(5));
    stop.request_stop();
  });
  EXPECT_TRUE(lent.worker.run(stop.get_token()));
}

TEST(Run, wakes_for_mail) {
  FakeWorker lent;
  std::stop_source stop;
  std::jthread driver([&] { EXPECT_TRUE(lent.worker.run(stop.get_token())); });
  std::this_thread::sleep_for(milliseconds(5));
  Stream stream = lent.submit(ask(20));
  EXPECT_EQ(read_all(stream).size(), 20u);
  stop.request_stop();
}

TEST(Run, a_second_driver_is_refused) {
  FakeWorker lent;
  std::stop_source stop;
  std::jthread driver([&] { EXPECT_TRUE(lent.worker.run(stop.get_token())); });
  Stream stream = lent.submit(ask(1));
  EXPECT_TRUE(stream.next());
  EXPECT_EQ(lent.worker.run_once().error().code, Error::invalid);
  EXPECT_EQ(lent.worker.run_for(milliseconds(1)).error().code, Error::invalid);
  EXPECT_EQ(lent.worker.run().error().code, Error::invalid);
  stop.request_stop();
}

TEST(Run, from_inside_a_function_is_refused) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(20));
  bool called = false;
  ASSERT_TRUE(stream.on_ready([&] {
    EXPECT_EQ(lent.worker.run_once().error().code, Error::invalid);
    called = true;
  }));
  lent.turns(1);
  EXPECT_TRUE(called);
}

TEST(RunOnce, makes_at_most_one_step_and_says_whether_there_is_more) {
  FakeWorker lent;
  EXPECT_EQ(*lent.worker.run_once(), Turn::idle);
  Stream stream = lent.submit(ask(2));
  EXPECT_EQ(*lent.worker.run_once(), Turn::more);
  EXPECT_EQ(lent.forward->runs, 1);
  EXPECT_EQ(*lent.worker.run_once(), Turn::idle);
  EXPECT_EQ(lent.forward->runs, 2);
  EXPECT_EQ(read_now(stream).size(), 2u);
}

TEST(RunFor, stops_when_the_time_is_over_or_nothing_is_to_do) {
  FakeWorker lent;
  lent.forward->during_run = [] { std::this_thread::sleep_for(milliseconds(2)); };
  Stream stream = lent.submit(ask(40));
  EXPECT_EQ(*lent.worker.run_for(milliseconds(10)), Turn::more);
  EXPECT_GE(lent.forward->runs, 1);
  EXPECT_LE(lent.forward->runs, 6);
  EXPECT_EQ(*lent.worker.run_for(std::chrono::seconds(100)), Turn::idle);
  EXPECT_EQ(read_now(stream).size(), 40u);
}

// ---- on_work

TEST(OnWork, is_called_when_an_idle_lent_worker_gets_mail) {
  FakeWorker lent;
  int calls = 0;
  ASSERT_TRUE(lent.worker.on_work([&] { ++calls; }));
  Stream first = lent.submit(ask(2));
  EXPECT_EQ(calls, 1);
  Stream second = lent.submit(ask(2));
  EXPECT_EQ(calls, 1) << "it has been told already";
  lent.run_out();
  EXPECT_EQ(calls, 1);
  first = Stream();
  EXPECT_EQ(calls, 2) << "idle again, and a stream's end is mail";
}

TEST(OnWork, is_not_called_while_somebody_drives_or_has_more_to_do) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(20));
  lent.turns(1);
  int calls = 0;
  ASSERT_TRUE(lent.worker.on_work([&] { ++calls; }));
  const Stream other = lent.submit(ask(2));
  EXPECT_EQ(calls, 0) << "run_once has said `more`";
}

TEST(OnWork, is_called_for_a_reader_who_has_caught_up) {
  FakeWorker lent(Kind::lent, {}, {.max_events = 4});
  Stream stream = lent.submit(ask(20));
  lent.run_out();
  int calls = 0;
  ASSERT_TRUE(lent.worker.on_work([&] { ++calls; }));
  EXPECT_TRUE(stream.try_next());
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(stream.try_next());
  EXPECT_EQ(calls, 1) << "half empty";
}

TEST(OnWork, may_lend_from_a_thread_of_its_own) {
  FakeWorker lent;
  std::vector<std::jthread> loops;
  ASSERT_TRUE(lent.worker.on_work([&] { loops.emplace_back([&] { lent.run_out(); }); }));
  Stream stream = lent.submit(ask(40));
  EXPECT_EQ(read_all(stream).size(), 40u);
  for (auto& loop : loops) loop.join();
}

// ---- drain

TEST(Drain, finishes_what_runs_and_takes_nothing_new) {
  FakeWorker started(Kind::started);
  const Request request = ask(300);
  Stream stream = started.submit(request);
  ASSERT_TRUE(started.worker.drain());
  EXPECT_EQ(started.worker.submit(ask(1)).error().code, Error::cancelled);
  EXPECT_EQ(read_all(stream), answer_to(request));
}

TEST(Drain, lifts_the_bound_of_a_stream_that_nobody_reads) {
  FakeWorker started(Kind::started, {}, {.max_events = 4});
  const Request request = ask(300);
  Stream stream = started.submit(request);
  wait_for([&] { return started.worker.counts().steps >= 4; });
  ASSERT_TRUE(started.worker.drain());
  EXPECT_EQ(read_now(stream), answer_to(request));
  EXPECT_TRUE(stream.done());
}

TEST(Drain, may_be_called_by_the_one_who_should_read) {
  FakeWorker started(Kind::started, {}, {.max_events = 1});
  Stream stream = started.submit(ask(50));
  ASSERT_TRUE(started.worker.drain());
  EXPECT_EQ(read_all(stream).size(), 50u);
}

TEST(Drain, drives_a_lent_worker_that_nobody_drives) {
  FakeWorker lent(Kind::lent, {}, {.max_events = 4});
  const Request request = ask(300);
  Stream stream = lent.submit(request);
  ASSERT_TRUE(lent.worker.drain());
  EXPECT_EQ(read_now(stream), answer_to(request));
}

TEST(Drain, waits_for_the_thread_that_drives_a_lent_worker) {
  FakeWorker lent(Kind::lent, {}, {.max_events = 4});
  Stream stream = lent.submit(ask(300));
  std::jthread driver([&] { EXPECT_TRUE(lent.worker.run()); });  // returns when it is drained
  wait_for([&] { return lent.worker.counts().steps > 0; });
  ASSERT_TRUE(lent.worker.drain());
  EXPECT_EQ(read_now(stream).size(), 300u);
}

TEST(Drain, goes_on_when_the_thread_that_drives_leaves) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(300));
  std::stop_source stop;
  std::jthread driver([&] {
    lent.forward->during_run = [] { std::this_thread::sleep_for(std::chrono::microseconds(200)); };
    EXPECT_TRUE(lent.worker.run(stop.get_token()));
  });
  wait_for([&] { return lent.worker.counts().steps > 2; });
  std::jthread stopper([&] { stop.request_stop(); });
  ASSERT_TRUE(lent.worker.drain());
  EXPECT_EQ(read_now(stream).size() > 0, true);
}

TEST(Drain, of_an_empty_worker_returns) {
  FakeWorker started(Kind::started), lent;
  EXPECT_TRUE(started.worker.drain());
  EXPECT_TRUE(lent.worker.drain());
}

// ---- stop

TEST(Stop, cancels_every_stream_and_refuses_new_ones) {
  FakeWorker started(Kind::started);
  Stream running = started.submit(ask(500));
  EXPECT_TRUE(running.next());
  started.worker.stop();
  read_all(running);
  EXPECT_EQ(running.result().error().code, Error::cancelled);
  EXPECT_EQ(started.worker.submit(ask(1)).error().code, Error::cancelled);
}

TEST(Stop, during_prefill_ends_it_and_frees_everything) {
  FakeOptions options;
  options.engine.step_tokens = 16;
  FakeWorker started(Kind::started, std::move(options));
  started.forward->during_run = [] { std::this_thread::sleep_for(milliseconds(1)); };
  Stream stream = started.submit(ask(50, 1, 400));
  wait_for([&] { return started.worker.counts().steps >= 2; });
  started.worker.stop();
  EXPECT_EQ(read_all(stream).size(), 0u);
  EXPECT_EQ(stream.result().error().code, Error::cancelled);
  EXPECT_TRUE(started.worker.drain());
}

TEST(Stop, of_a_lent_worker_takes_effect_at_the_next_turn_or_in_the_destructor) {
  Stream first, second;
  {
    FakeWorker lent, never;
    first = lent.submit(ask(50));
    second = never.submit(ask(50));
    lent.worker.stop();
    never.worker.stop();
    EXPECT_EQ(first.try_next().why(), Pull::empty);
    EXPECT_EQ(*lent.worker.run_once(), Turn::idle);
    EXPECT_EQ(first.try_next()->finish, Finish::cancelled);
    EXPECT_EQ(second.try_next().why(), Pull::empty);
  }
  EXPECT_EQ(second.try_next()->finish, Finish::cancelled);
}

TEST(Stop, calls_what_is_armed) {
  FakeWorker started(Kind::started);
  Stream stream = started.submit(ask(500));
  while (stream.try_next().why() != Pull::empty) continue;
  std::promise<void> called;
  started.worker.stop();
  while (!stream.on_ready([&] { called.set_value(); })) continue;
  called.get_future().wait();
}

// ---- a Worker's end

TEST(WorkerDestructor, leaves_streams_readable_and_ended) {
  Stream stream;
  const Request request = ask(500);
  {
    FakeWorker lent;
    stream = lent.submit(request);
    lent.turns(5);
  }
  const auto ids = read_now(stream);
  EXPECT_EQ(ids.size(), 5u);
  EXPECT_TRUE(stream.done());
  EXPECT_EQ(stream.next().why(), Pull::end);
  EXPECT_EQ(stream.result().error().code, Error::cancelled);
  stream.cancel();
}

TEST(WorkerDestructor, in_a_function_on_its_own_thread_detaches_and_returns) {
  auto* started = new FakeWorker(Kind::started);
  Stream stream = started->submit(ask(500)), other = started->submit(ask(500));
  std::promise<void> deleted;
  while (stream.try_next()) continue;
  while (!stream.on_ready([&] {
    delete started;
    deleted.set_value();
  }))
    continue;
  deleted.get_future().wait();
  read_all(other);
  EXPECT_EQ(other.result().error().code, Error::cancelled);
}

TEST(WorkerDestructor, in_a_function_of_a_lent_one_returns_to_the_driving_call) {
  auto* lent = new FakeWorker;
  Stream stream = lent->submit(ask(500)), other = lent->submit(ask(500));
  bool deleted = false;
  ASSERT_TRUE(stream.on_ready([&] {
    delete lent;
    deleted = true;
  }));
  (void)lent->worker.run();
  EXPECT_TRUE(deleted);
  read_all(other);
  EXPECT_EQ(other.result().error().code, Error::cancelled);
}

TEST(WorkerDestructor, in_a_function_that_the_stop_called) {
  auto* lent = new FakeWorker;
  Stream stream = lent->submit(ask(500)), other = lent->submit(ask(500));
  bool deleted = false, other_called = false;
  ASSERT_TRUE(stream.on_ready([&] {
    delete lent;
    deleted = true;
  }));
  ASSERT_TRUE(other.on_ready([&] { other_called = true; }));
  lent->worker.stop();
  (void)lent->worker.run_once();
  EXPECT_TRUE(deleted);
  EXPECT_TRUE(other_called);
}

TEST(WorkerDestructor, of_a_lent_one_waits_until_the_driving_call_returns) {
  auto lent = std::make_unique<FakeWorker>();
  std::atomic<bool> stepping = false, stepped = false;
  lent->forward->during_run = [&] {
    stepping = true;
    std::this_thread::sleep_for(milliseconds(20));
    stepped = true;
  };
  Stream stream = lent->submit(ask(500));
  std::jthread driver([worker = &lent->worker] { (void)worker->run(); });
  wait_for([&] { return stepping.load(); });
  lent.reset();
  EXPECT_TRUE(stepped);
}

TEST(WorkerDestructor, ends_a_request_that_was_never_seen) {
  Stream stream;
  {
    FakeWorker lent;
    stream = lent.submit(ask(3));
  }
  EXPECT_EQ(stream.next()->finish, Finish::cancelled);
  EXPECT_EQ(stream.next().why(), Pull::end);
}

TEST(WorkerDestructor, frees_the_engine_before_it_returns) {
  bool gone = false;
  struct Watch {
    Gone gone;
    explicit Watch(bool* flag) : gone(flag) {}
  };
  auto worker = std::make_unique<Worker>(cpu());
  FakeEngine fake;
  ASSERT_TRUE(worker->add(std::move(fake.engine), std::make_shared<const Watch>(&gone)));
  auto stream = worker->submit(ask(500));
  ASSERT_TRUE(stream->on_ready([&] {
    worker.reset();
    EXPECT_TRUE(gone);
  }));
  Worker* raw = worker.get();
  (void)raw->run_once();
  EXPECT_EQ(worker, nullptr);
}

}  // namespace
}  // namespace mummu::test
