#include "mummu/asio.h"

#include <gtest/gtest.h>

#include <boost/asio.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include "async/test/fake_worker.h"
#include "async/test/number_channel.h"

namespace mummu::test {
namespace {

namespace asio = boost::asio;
using Kind = FakeWorker::Kind;

asio::awaitable<std::vector<TokenId>> read_asio(Stream& stream) {
  std::vector<TokenId> ids;
  while (const Token* token = co_await async_next(stream, asio::use_awaitable))
    ids.insert(ids.end(), token->ids.begin(), token->ids.end());
  co_return ids;
}

TEST(Asio, an_awaitable_reads_everything_on_its_io_context) {
  FakeWorker started(Kind::started);
  const Request request = ask(300);
  Stream stream = started.submit(request);
  asio::io_context io;
  auto ids = asio::co_spawn(io, read_asio(stream), asio::use_future);
  io.run();
  EXPECT_EQ(ids.get(), answer_to(request));
}

TEST(Asio, a_callback_is_posted_to_its_executor) {
  FakeWorker started(Kind::started);
  Stream stream = started.submit(ask(300));
  asio::io_context io;
  int read = 0;
  struct Reader {
    Stream& stream;
    asio::io_context& io;
    int& read;
    void go_on() {
      async_next(stream, asio::bind_executor(io, [this](Next<Token> token) {
                   EXPECT_TRUE(io.get_executor().running_in_this_thread());
                   if (!token) return;
                   ++read;
                   go_on();
                 }));
    }
  } reader{stream, io, read};
  reader.go_on();
  EXPECT_EQ(read, 0) << "never inline";
  io.run();
  EXPECT_EQ(read, 300);
}

TEST(Asio, a_future_gives_token_after_token) {
  FakeWorker started(Kind::started);
  Stream stream = started.submit(ask(5));
  int read = 0;
  while (async_next(stream, asio::use_future).get()) ++read;
  EXPECT_EQ(read, 5);
}

TEST(Asio, a_deferred_operation_starts_when_it_is_launched) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(5));
  lent.run_out();
  asio::io_context io;
  auto operation = async_next(stream, asio::deferred);
  EXPECT_NE(stream.try_next().why(), Pull::invalid) << "it takes no place before";
  bool got = false;
  std::move(operation)(asio::bind_executor(io, [&](Next<Token> token) { got = bool(token); }));
  io.run();
  EXPECT_TRUE(got);
}

TEST(Asio, cancelling_the_operation_ends_the_wait_and_not_the_stream) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(5));
  asio::io_context io;
  asio::cancellation_signal signal;
  Pull why = Pull::event;
  async_next(stream, asio::bind_cancellation_slot(
                         signal.slot(),
                         asio::bind_executor(io, [&](Next<Token> token) { why = token.why(); })));
  asio::post(io, [&] { signal.emit(asio::cancellation_type::total); });
  io.run();
  EXPECT_EQ(why, Pull::cancelled);
  lent.run_out();
  EXPECT_EQ(read_now(stream).size(), 5u);
}

TEST(Asio, a_timer_may_win_over_a_token) {
  using namespace asio::experimental::awaitable_operators;
  FakeWorker lent;
  Stream stream = lent.submit(ask(5));
  asio::io_context io;
  bool timed = false;
  const auto race = [&]() -> asio::awaitable<void> {
    asio::steady_timer timer(io, milliseconds(5));
    const auto first =
        co_await (async_next(stream, asio::use_awaitable) || timer.async_wait(asio::use_awaitable));
    timed = first.index() == 1;
  };
  asio::co_spawn(io, race, asio::detached);
  io.run();
  EXPECT_TRUE(timed);
  EXPECT_EQ(stream.try_next().why(), Pull::empty) << "the place is free";
}

TEST(Asio, an_io_context_that_dies_destroys_the_handler_and_loses_no_event) {
  FakeWorker lent;
  const Request request = ask(5);
  Stream stream = lent.submit(request);
  bool gone = false;
  const auto wait = [](Stream& from, Gone) -> asio::awaitable<void> {
    co_await async_next(from, asio::use_awaitable);
  };
  {
    asio::io_context io;
    asio::co_spawn(io, wait(stream, Gone(&gone)), asio::detached);
    io.poll();
    EXPECT_FALSE(gone);
  }
  EXPECT_TRUE(gone);
  lent.run_out();
  EXPECT_EQ(read_now(stream), answer_to(request));
}

TEST(Asio, an_old_wait_s_shutdown_does_not_disarm_a_later_reader) {
  FakeWorker lent;
  Stream stream = lent.submit(ask(5));
  bool called = false;
  {
    asio::io_context io;
    asio::cancellation_signal signal;
    async_next(stream, asio::bind_cancellation_slot(signal.slot(),
                                                    asio::bind_executor(io, [](Next<Token>) {})));
    signal.emit(asio::cancellation_type::total);
    ASSERT_TRUE(stream.on_ready([&] { called = true; }));
  }
  lent.turns(1);
  EXPECT_TRUE(called);
}

TEST(Asio, the_stream_s_death_completes_the_operation_once_with_cancelled) {
  FakeWorker lent;
  asio::io_context io;
  auto stream = std::make_unique<Stream>(lent.submit(ask(5)));
  int calls = 0;
  Pull why = Pull::event;
  async_next(*stream, asio::bind_executor(io, [&](Next<Token> token) {
    why = token.why();
    ++calls;
  }));
  stream.reset();
  EXPECT_EQ(calls, 0);
  io.run();
  EXPECT_EQ(why, Pull::cancelled);
  EXPECT_EQ(calls, 1);
}

TEST(Asio, a_second_reader_is_told_that_it_is_invalid) {
  FakeWorker lent;
  asio::io_context io;
  Stream stream = lent.submit(ask(5));
  const auto ticket = stream.on_ready([] {});
  Pull why = Pull::event;
  async_next(stream, asio::bind_executor(io, [&](Next<Token> token) { why = token.why(); }));
  io.run();
  EXPECT_EQ(why, Pull::invalid);
  EXPECT_TRUE(stream.disarm(*ticket));
}

TEST(Asio, the_wait_counts_as_work_of_its_io_context) {
  FakeWorker lent;
  asio::io_context io;
  Stream stream = lent.submit(ask(1));
  bool called = false;
  async_next(stream, asio::bind_executor(io, [&](Next<Token>) { called = true; }));
  std::jthread driver([&] {
    std::this_thread::sleep_for(milliseconds(10));
    lent.run_out();
  });
  io.run();
  EXPECT_TRUE(called) << "run() has waited for it";
}

// Counts what it allocates.
template <typename T>
struct Counting {
  using value_type = T;
  std::atomic<int>* count;
  explicit Counting(std::atomic<int>* to) : count(to) {}
  template <typename U>
  Counting(const Counting<U>& other) : count(other.count) {}  // NOLINT
  T* allocate(size_t n) {
    ++*count;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, size_t n) { std::allocator<T>().deallocate(p, n); }
  template <typename U>
  bool operator==(const Counting<U>& other) const {
    return count == other.count;
  }
};

TEST(Asio, the_handler_s_allocator_is_used) {
  FakeWorker lent;
  asio::io_context io;
  Stream stream = lent.submit(ask(1));
  std::atomic<int> allocations = 0;
  async_next(stream, asio::bind_executor(io, asio::bind_allocator(Counting<char>(&allocations),
                                                                  [](Next<Token>) {})));
  EXPECT_GE(allocations, 1);
  const int before = allocations;
  lent.run_out();
  EXPECT_GE(allocations, before + 1) << "the post";
  io.run();
}

TEST(AsioStress, io_contexts_die_at_random_moments_while_a_worker_produces) {
  FakeWorker started(Kind::started);
  for (int round = 0; round < 300; ++round) {
    const Request request = ask(40, static_cast<TokenId>(round % 50));
    Stream stream = started.submit(request);
    std::vector<TokenId> ids;
    {
      asio::io_context io;
      const auto read = [&]() -> asio::awaitable<void> {
        while (const Token* token = co_await async_next(stream, asio::use_awaitable))
          ids.insert(ids.end(), token->ids.begin(), token->ids.end());
      };
      asio::co_spawn(io, read, asio::detached);
      io.run_for(std::chrono::microseconds(round * 2));
    }
    const auto rest = read_all(stream);
    ids.insert(ids.end(), rest.begin(), rest.end());
    ASSERT_EQ(ids, answer_to(request)) << round;
  }
}

}  // namespace
}  // namespace mummu::test
