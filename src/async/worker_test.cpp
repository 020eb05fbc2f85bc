// Submitting, bounds, errors and engines that share a worker.

#include "mummu/worker.h"

#include <gtest/gtest.h>

#include "async/test/fake_worker.h"

namespace mummu::test {
namespace {

using Kind = FakeWorker::Kind;

// ---- submit

TEST(Submit, checks_on_the_caller_s_thread) {
  FakeWorker lent;
  EXPECT_EQ(lent.worker.submit(ask(0)).error().code, Error::invalid);
  EXPECT_EQ(lent.worker.submit(fake_request({})).error().code, Error::invalid);
  EXPECT_EQ(lent.worker.submit(ask(1, 1, 600)).error().code, Error::too_long);
  const Model::Impl* foreign = reinterpret_cast<const Model::Impl*>(&lent);
  Request request = ask(1);
  request.model = foreign;
  EXPECT_EQ(lent.worker.submit(request).error().code, Error::invalid);
  EXPECT_EQ(lent.forward->runs, 0);
}

TEST(Submit, refuses_what_can_never_fit_with_the_numbers) {
  FakeOptions options;
  options.engine.kv_tokens = 64;
  FakeWorker lent(Kind::lent, std::move(options));
  const auto stream = lent.worker.submit(ask(100));
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().code, Error::no_memory);
  EXPECT_NE(stream.error().message.find("64"), std::string::npos) << stream.error().message;
}

TEST(Submit, is_busy_at_once_when_too_many_choices_wait) {
  FakeOptions options;
  options.engine.max_waiting = 3;
  FakeWorker lent(Kind::lent, std::move(options));
  Request two = ask(5);
  two.options.n = 2;
  Stream first = lent.submit(two);
  EXPECT_EQ(lent.worker.submit(two).error().code, Error::busy);
  Stream second = lent.submit(ask(5));
  EXPECT_EQ(lent.worker.submit(ask(5)).error().code, Error::busy);
  EXPECT_EQ(lent.worker.counts().waiting, 3);
  lent.turns(2);
  EXPECT_EQ(lent.worker.counts().waiting, 0) << "they run now";
  EXPECT_TRUE(lent.worker.submit(ask(5)));
}

TEST(Submit, is_busy_at_once_when_too_many_streams_are_open) {
  FakeWorker lent(Kind::lent, {}, {.max_streams = 2});
  Stream first = lent.submit(ask(5)), second = lent.submit(ask(5));
  EXPECT_EQ(lent.worker.submit(ask(5)).error().code, Error::busy);
  first = Stream();
  EXPECT_EQ(lent.worker.submit(ask(5)).error().code, Error::busy);
  lent.turns(1);
  EXPECT_TRUE(lent.worker.submit(ask(5)));
}

TEST(Submit, a_cancelled_request_that_waited_makes_room) {
  FakeOptions options;
  options.engine.max_waiting = 1;
  FakeWorker lent(Kind::lent, std::move(options));
  Stream stream = lent.submit(ask(5));
  stream.cancel();
  lent.turns(1);
  EXPECT_EQ(lent.worker.counts().waiting, 0);
  EXPECT_TRUE(lent.worker.submit(ask(5)));
}

TEST(Submit, to_a_worker_without_engines_is_invalid) {
  Worker worker(cpu());
  EXPECT_EQ(worker.submit(ask(1)).error().code, Error::invalid);
}

TEST(Submit, to_a_worker_that_was_moved_from_is_invalid) {
  FakeWorker lent;
  const Worker other = std::move(lent.worker);
  EXPECT_EQ(lent.worker.submit(ask(1)).error().code, Error::invalid);
  EXPECT_EQ(lent.worker.run_once().error().code, Error::invalid);
  EXPECT_EQ(lent.worker.drain().error().code, Error::invalid);
  lent.worker.stop();
}

TEST(Submit, with_a_stop_that_came_before_ends_cancelled) {
  FakeWorker lent;
  std::stop_source stop;
  stop.request_stop();
  Request request = ask(5);
  request.options.cancel = stop.get_token();
  Stream stream = lent.submit(request);
  EXPECT_EQ(stream.next()->finish, Finish::cancelled);
  lent.run_out();
  EXPECT_EQ(lent.forward->runs, 0);
}

TEST(SubmitAll, gives_the_answer_as_a_future) {
  FakeWorker started(Kind::started);
  const Request request = ask(100);
  const auto done = started.worker.submit_all(request).get();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->ids, answer_to(request));
}

TEST(SubmitAll, tells_what_was_refused_and_what_was_cut_off) {
  FakeWorker lent;
  EXPECT_EQ(lent.worker.submit_all(ask(0)).get().error().code, Error::invalid);
  std::future<Result<Completion>> cut;
  {
    FakeWorker dies;
    cut = dies.worker.submit_all(ask(500));
    dies.turns(3);
  }
  EXPECT_EQ(cut.get().error().code, Error::cancelled);
}

// ---- the bound

TEST(Bound, a_slow_reader_pauses_its_own_sequence_and_nobody_else_s) {
  FakeWorker lent(Kind::lent, {}, {.max_events = 8});
  const Request slow = ask(100, 1), quick = ask(100, 2);
  Stream a = lent.submit(slow), b = lent.submit(quick);
  std::vector<TokenId> of_b;
  for (int i = 0; i < 200; ++i) {
    lent.turns(1);
    const auto more = read_now(b);
    of_b.insert(of_b.end(), more.begin(), more.end());
  }
  EXPECT_EQ(of_b, answer_to(quick));
  EXPECT_EQ(lent.worker.counts().streams, 1);
  int there = 0;
  std::vector<TokenId> of_a;
  for (; there < 8; ++there) {
    const Token* token = a.try_next();
    ASSERT_NE(token, nullptr);
    of_a.insert(of_a.end(), token->ids.begin(), token->ids.end());
  }
  EXPECT_EQ(a.try_next().why(), Pull::empty) << "no more than the bound";
  while (!a.done()) {
    lent.turns(1);
    const auto more = read_now(a);
    of_a.insert(of_a.end(), more.begin(), more.end());
  }
  EXPECT_EQ(of_a, answer_to(slow));
}

TEST(Bound, the_sequence_goes_on_when_half_is_read) {
  FakeWorker lent(Kind::lent, {}, {.max_events = 8});
  Stream stream = lent.submit(ask(100));
  lent.run_out();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(stream.try_next());
  EXPECT_EQ(*lent.worker.run_once(), Turn::idle);
  EXPECT_TRUE(stream.try_next());
  EXPECT_EQ(*lent.worker.run_once(), Turn::more);
}

TEST(Bound, the_last_event_has_its_own_place) {
  FakeWorker lent(Kind::lent, {}, {.max_events = 4});
  Stream stream = lent.submit(ask(100));
  lent.run_out();
  stream.cancel();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(stream.try_next()->finish, Finish::none);
  EXPECT_EQ(stream.try_next()->finish, Finish::cancelled);
  EXPECT_EQ(stream.try_next().why(), Pull::end);
}

TEST(Bound, a_reader_that_never_reads_costs_its_bound_and_is_cancelled_at_the_end) {
  FakeWorker started(Kind::started, {}, {.max_events = 4});
  Stream never = started.submit(ask(400));
  Stream other = started.submit(ask(400, 3));
  EXPECT_EQ(read_all(other).size(), 400u);
  started.worker.stop();
  EXPECT_TRUE(started.worker.drain());
  EXPECT_EQ(read_all(never).size(), 4u);
}

TEST(Bound, of_one_event_still_gives_everything) {
  FakeWorker started(Kind::started, {}, {.max_events = 1});
  const Request request = ask(50);
  Stream stream = started.submit(request);
  EXPECT_EQ(read_all(stream), answer_to(request));
}

// ---- options

TEST(WorkerOptions, are_checked) {
  for (const int64_t bad : {int64_t{0}, int64_t{-1}, int64_t{1} << 40}) {
    EXPECT_EQ(Worker::start(cpu(), {.max_streams = bad}).error().code, Error::invalid);
    EXPECT_EQ(Worker::start(cpu(), {.max_events = bad}).error().code, Error::invalid);
    Worker lent(cpu(), {.max_events = bad});
    FakeEngine fake;
    EXPECT_EQ(lent.add(std::move(fake.engine)).error().code, Error::invalid);
  }
}

TEST(Worker, takes_no_engine_that_was_moved_from_and_none_twice) {
  Worker worker(cpu());
  FakeEngine fake, again;
  Engine engine = std::move(fake.engine);
  EXPECT_EQ(worker.add(std::move(fake.engine)).error().code, Error::invalid);
  EXPECT_TRUE(worker.add(std::move(engine)));
  EXPECT_EQ(worker.add(std::move(again.engine)).error().code, Error::invalid);
}

TEST(Worker, sleeps_when_it_is_idle) {
  FakeWorker started(Kind::started);
  Stream stream = started.submit(ask(5));
  read_all(stream);
  wait_for([&] { return started.worker.counts().streams == 0; });
  const int64_t steps = started.worker.counts().steps;
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(started.worker.counts().steps, steps);
}

// ---- errors

TEST(SequenceError, ends_that_stream_alone) {
  FakeWorker lent;
  Stream bad = lent.submit(ask(50, 1)), good = lent.submit(ask(50, 2));
  lent.turns(3);
  int rows = 0;
  lent.forward->edit_row = [&](std::span<float> row) {
    if (rows++ == 0) row[3] = std::numeric_limits<float>::quiet_NaN();
  };
  lent.run_out();
  const auto first = read_now(bad), second = read_now(good);
  EXPECT_TRUE(bad.done());
  EXPECT_TRUE(good.done());
  const auto a = bad.result(), b = good.result();
  EXPECT_NE(a.has_value(), b.has_value()) << "one of them failed";
  EXPECT_EQ((a ? first : second).size(), 50u);
  EXPECT_TRUE(lent.worker.status());
}

TEST(DeviceLost, ends_all_streams_and_the_worker_says_so) {
  FakeWorker lent;
  Stream a = lent.submit(ask(50, 1)), b = lent.submit(ask(50, 2));
  lent.turns(3);
  lent.forward->outcome = [] { return Error{Error::device_lost, "the device is gone"}; };
  EXPECT_EQ(lent.worker.run_once().error().code, Error::device_lost);
  for (Stream* stream : {&a, &b}) {
    EXPECT_EQ(read_now(*stream).size(), 3u);
    EXPECT_EQ(stream->result().error().code, Error::device_lost);
  }
  EXPECT_EQ(lent.worker.status().error().code, Error::device_lost);
  EXPECT_EQ(lent.worker.submit(ask(1)).error().code, Error::device_lost);
  EXPECT_EQ(lent.worker.counts().streams, 0);
}

TEST(DeviceLost, wakes_who_waits) {
  FakeWorker started(Kind::started);
  started.forward->outcome = [runs = 0]() mutable -> Result<void> {
    if (++runs < 10) return {};
    return Error{Error::device_lost, "the device is gone"};
  };
  Stream stream = started.submit(ask(100));
  EXPECT_EQ(read_all(stream).size(), 9u);
  EXPECT_EQ(stream.result().error().code, Error::device_lost);
}

TEST(Deadline, that_passes_ends_a_waiting_stream_with_busy) {
  FakeOptions options;
  options.engine.max_sequences = 1;
  double now = 0;
  options.now_ms = [&now] { return now; };
  FakeWorker lent(Kind::lent, std::move(options));
  Stream first = lent.submit(ask(50));
  Request late = ask(50, 2);
  late.options.deadline_ms = 10;
  Stream second = lent.submit(late);
  lent.turns(2);
  now = 20;
  lent.turns(2);
  EXPECT_EQ(read_now(second).size(), 0u);
  EXPECT_EQ(second.result().error().code, Error::busy);
}

}  // namespace
}  // namespace mummu::test
