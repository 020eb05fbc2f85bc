// Cancelling and destroying a stream in every state: seen by the reader at once, and all pages come
// back within one step of the driver.

#include <gtest/gtest.h>

#include <future>

#include "async/test/fake_worker.h"

namespace mummu::test {
namespace {

using Kind = FakeWorker::Kind;

enum class How { cancel, canceller, stop_token, destroy };

std::string how_name(const testing::TestParamInfo<How>& info) {
  constexpr const char* kNames[] = {"cancel", "canceller", "stop_token", "destroy"};
  return kNames[static_cast<size_t>(info.param)];
}

class Cancel : public testing::TestWithParam<How> {
 protected:
  // A request whose stream this test is going to cancel.
  Request watched(Request request) {
    if (GetParam() == How::stop_token) request.options.cancel = stop_.get_token();
    return request;
  }
  void cancel(Stream& stream) {
    switch (GetParam()) {
      case How::cancel:
        return stream.cancel();
      case How::canceller:
        return stream.canceller()();
      case How::stop_token:
        stop_.request_stop();
        return;
      case How::destroy:
        stream = Stream();
    }
  }
  // The reader's view: what was there, then the last event, then the end.
  void expect_cancelled(Stream& stream, size_t buffered) {
    if (!stream) return;
    for (size_t i = 0; i < buffered; ++i) EXPECT_EQ(stream.try_next()->finish, Finish::none);
    const auto last = stream.try_next();
    ASSERT_TRUE(last);
    EXPECT_EQ(last->finish, Finish::cancelled);
    EXPECT_TRUE(last->ids.empty());
    EXPECT_EQ(stream.try_next().why(), Pull::end);
    EXPECT_EQ(stream.result().error().code, Error::cancelled);
  }
  // The fake looks at the flag after during_run, as between layers. The step is the last.
  void cancel_in_the_next_step(FakeWorker& lent, Stream& stream) {
    int64_t runs = 0;
    lent.forward->during_run = [&] {
      ++runs;
      std::async(std::launch::async, [&] { cancel(stream); }).wait();
    };
    lent.turns(2);
    EXPECT_EQ(runs, 1);
    lent.forward->during_run = nullptr;
  }
  void expect_all_pages(FakeWorker& lent) {
    EXPECT_EQ(lent.worker.counts().pages_used, 0);
    EXPECT_EQ(lent.worker.counts().streams, 0);
    EXPECT_EQ(lent.worker.counts().waiting, 0);
  }

 private:
  std::stop_source stop_;
};

INSTANTIATE_TEST_SUITE_P(Every, Cancel,
                         testing::Values(How::cancel, How::canceller, How::stop_token,
                                         How::destroy),
                         how_name);

TEST_P(Cancel, before_it_was_seen) {
  FakeWorker lent;
  Stream stream = lent.submit(watched(ask(50)));
  cancel(stream);
  expect_cancelled(stream, 0);
  lent.turns(1);
  EXPECT_EQ(lent.forward->runs, 0);
  expect_all_pages(lent);
}

TEST_P(Cancel, while_it_waits) {
  FakeOptions options;
  options.engine.max_sequences = 1;
  FakeWorker lent(Kind::lent, std::move(options));
  Stream running = lent.submit(ask(50)), stream = lent.submit(watched(ask(50, 2)));
  lent.turns(3);
  cancel(stream);
  expect_cancelled(stream, 0);
  lent.turns(1);
  EXPECT_EQ(lent.worker.counts().streams, 1);
  lent.run_out();
  EXPECT_EQ(read_now(running).size(), 50u);
}

TEST_P(Cancel, in_the_middle_of_its_prompt) {
  FakeOptions options;
  options.engine.step_tokens = 16;
  FakeWorker lent(Kind::lent, std::move(options));
  Stream stream = lent.submit(watched(ask(50, 1, 100)));
  lent.turns(2);
  EXPECT_GT(lent.worker.counts().pages_used, 0);
  const int64_t runs = lent.forward->runs;
  cancel(stream);
  expect_cancelled(stream, 0);
  lent.turns(1);
  EXPECT_EQ(lent.forward->runs, runs) << "no further step";
  expect_all_pages(lent);
}

TEST_P(Cancel, while_it_decodes) {
  FakeWorker lent;
  Stream stream = lent.submit(watched(ask(50)));
  lent.turns(7);
  const int64_t runs = lent.forward->runs;
  cancel(stream);
  expect_cancelled(stream, 7);
  lent.turns(1);
  EXPECT_EQ(lent.forward->runs, runs);
  expect_all_pages(lent);
}

TEST_P(Cancel, while_it_is_paused_at_its_bound) {
  FakeWorker lent(Kind::lent, {}, {.max_events = 4});
  Stream stream = lent.submit(watched(ask(50)));
  lent.run_out();
  cancel(stream);
  expect_cancelled(stream, 4);
  lent.turns(1);
  expect_all_pages(lent);
}

// Four paused at their bound, pushed out by a fifth.
TEST_P(Cancel, while_it_is_preempted) {
  FakeOptions options;
  options.engine.kv_tokens = 320;
  options.engine.prefix_cache = false;
  FakeWorker lent(Kind::lent, std::move(options), {.max_events = 40});
  std::vector<Stream> paused;
  for (TokenId i = 0; i < 4; ++i) paused.push_back(lent.submit(watched(ask(200, i))));
  lent.run_out();
  const Request large = ask(300, 9);
  Stream big = lent.submit(large);
  std::vector<TokenId> ids;
  while (!big.done()) {
    lent.turns(1);
    const auto more = read_now(big);
    ids.insert(ids.end(), more.begin(), more.end());
  }
  EXPECT_EQ(ids, answer_to(large));
  EXPECT_EQ(lent.worker.counts().pages_used, 0) << "all four were preempted";
  for (Stream& stream : paused) cancel(stream);
  for (Stream& stream : paused) expect_cancelled(stream, 40);
  lent.turns(1);
  expect_all_pages(lent);
}

TEST_P(Cancel, after_its_end_changes_nothing) {
  FakeWorker lent;
  const Request request = ask(20);
  Stream stream = lent.submit(watched(request));
  lent.run_out();
  cancel(stream);
  lent.turns(1);
  expect_all_pages(lent);
  if (!stream) return;
  EXPECT_EQ(read_now(stream), answer_to(request));
  EXPECT_EQ(stream.result()->finish, Finish::length);
}

TEST_P(Cancel, in_the_middle_of_a_step_stops_it_between_layers) {
  FakeWorker lent;
  Stream stream = lent.submit(watched(ask(50)));
  lent.turns(2);
  cancel_in_the_next_step(lent, stream);
  expect_cancelled(stream, 2);
  expect_all_pages(lent);
}

TEST_P(Cancel, in_the_middle_of_a_step_of_its_prompt_stops_it_between_layers) {
  FakeOptions options;
  options.engine.step_tokens = 16;
  FakeWorker lent(Kind::lent, std::move(options));
  Stream stream = lent.submit(watched(ask(50, 1, 100)));
  lent.turns(2);
  cancel_in_the_next_step(lent, stream);
  expect_cancelled(stream, 0);
  expect_all_pages(lent);
}

TEST_P(Cancel, of_one_stream_leaves_its_neighbour_alone) {
  FakeWorker lent;
  const Request request = ask(50, 3);
  Stream stream = lent.submit(watched(ask(50))), neighbour = lent.submit(request);
  lent.turns(5);
  cancel(stream);
  lent.run_out();
  EXPECT_EQ(read_now(neighbour), answer_to(request));
  expect_all_pages(lent);
}

TEST_P(Cancel, with_several_choices_ends_each) {
  FakeWorker lent;
  Request request = watched(ask(50));
  request.options.n = 3;
  request.options.temperature = 1;
  Stream stream = lent.submit(request);
  lent.turns(4);
  cancel(stream);
  if (stream) {
    uint64_t ended = 0;
    while (const Token* token = stream.try_next())
      if (token->finish == Finish::cancelled) ended |= uint64_t{1} << token->choice;
    EXPECT_EQ(ended, 7u);
  }
  lent.turns(1);
  expect_all_pages(lent);
}

// Steps that end after ~Stream has returned: the one that was under way, if any.
void expect_at_most_one_step(FakeOptions options, const Request& request, int64_t first_runs) {
  FakeWorker started(Kind::started, std::move(options));
  std::atomic<int64_t> ended = 0;
  started.forward->during_run = [&] {
    std::this_thread::sleep_for(std::chrono::microseconds(300));
    ++ended;
  };
  for (int round = 0; round < 50; ++round) {
    const int64_t before = ended;
    Stream stream = started.submit(request);
    wait_for([&] { return ended >= before + first_runs; });
    std::this_thread::sleep_for(std::chrono::microseconds(50 * (round % 20)));
    stream = Stream();
    const int64_t destroyed = ended;
    wait_for([&] { return started.worker.counts().streams == 0; });
    EXPECT_EQ(started.worker.counts().pages_used, 0);
    EXPECT_LE(ended - destroyed, 1);
  }
}

TEST(CancelSteps, at_most_one_ends_after_the_destructor_has_returned) {
  expect_at_most_one_step({.engine = {.prefix_cache = false}}, ask(500), 2);
}

TEST(CancelSteps, at_most_one_ends_after_a_prompt_was_destroyed_half_way) {
  expect_at_most_one_step({.engine = {.step_tokens = 4, .prefix_cache = false}}, ask(5, 1, 400), 2);
}

TEST(CancellerOutlives, the_stream_and_the_worker) {
  Canceller canceller;
  {
    FakeWorker lent;
    Stream stream = lent.submit(ask(5));
    canceller = stream.canceller();
  }
  canceller();
  Canceller()();
}

}  // namespace
}  // namespace mummu::test
