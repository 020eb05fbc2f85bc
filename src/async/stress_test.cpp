// Many readers, many streams, a worker that stops, drains and dies at random. What is checked: each
// stream's ids are the exact beginning of its answer, each armed function is destroyed once, each
// spawned task is reaped once, nothing runs after a stream's destructor, and all pages come back.
// Each promise has a test of its own elsewhere; this one looks for what they did not think of.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <shared_mutex>

#include "async/test/fake_worker.h"
#include "async/test/number_channel.h"

namespace mummu::test {
namespace {

using Kind = FakeWorker::Kind;

// MUMMU_STRESS multiplies the operations (tool/nightly.sh).
int64_t operations() {
  const char* times = std::getenv("MUMMU_STRESS");
  return 150'000 * (times ? std::atoll(times) : 1);
}

FakeOptions small_engine() {
  FakeOptions options;
  options.engine.kv_tokens = 1024;  // less than the streams want: they preempt each other
  options.engine.max_sequences = 24;
  options.engine.prefix_cache = false;
  return options;
}

// The ids of a stream so far, against its answer.
class Chain {
 public:
  explicit Chain(const Request& request) : answer_(answer_to(request)) {}
  void see(const Token& token) {
    for (TokenId id : token.ids) {
      ASSERT_LT(seen_, answer_.size());
      ASSERT_EQ(id, answer_[seen_++]);
    }
    ASSERT_FALSE(ended_);
    ended_ = token.finish != Finish::none;
  }

 private:
  std::vector<TokenId> answer_;
  size_t seen_ = 0;
  bool ended_ = false;
};

std::atomic<int> alive_frames{0};
struct Frame {
  Frame() { ++alive_frames; }
  Frame(Frame&&) = delete;
  ~Frame() { --alive_frames; }
};

// Sometimes the pool, sometimes inline, sometimes it drops what it was given.
struct Whim {
  Pool* pool;
  std::atomic<unsigned>* dice;
  int kind;
  void operator()(Resume resume) const {
    if (kind == 1) return resume();
    if (kind == 2 && dice->fetch_add(1) % 7 == 0) return;
    pool->post(std::move(resume));
  }
};

Task<bool> read_some(Stream& stream, Whim where, Chain& chain) {
  const Frame frame;
  const Token* token = co_await stream.next(where);
  if (token) chain.see(*token);
  co_return token != nullptr;
}

Task<void> read_task(Stream stream, Whim where, Request request, int most) {
  const Frame frame;
  Chain chain(request);
  while (most-- > 0 && co_await read_some(stream, where, chain)) continue;
}

struct Place {
  std::shared_mutex mutex;  // shared: calls on the stream; exclusive: its destruction
  std::mutex reading;       // who may look at the chain
  Stream stream;
  std::optional<Chain> chain;
  std::unique_ptr<int64_t> memory;  // what on_ready writes to: dies after the stream
};

class Stress {
 public:
  explicit Stress(int64_t operations) : left_(operations) { replace_worker(); }

  void run() {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 8; ++i) threads.emplace_back([this, i] { work(i); });
    control();
    threads.clear();
    for (Place& place : places_) place.stream = Stream();
    EXPECT_TRUE(worker_->worker.drain());
    EXPECT_EQ(worker_->worker.counts().pages_used, 0);
    worker_.reset();
    wait_for([&] { return alive_frames == 0 && spawned_ == reaped_; });
    EXPECT_EQ(armed_, destroyed_);
    EXPECT_GT(fired_, 0);
  }

 private:
  using Random = std::mt19937;

  void replace_worker() {
    worker_ = std::make_unique<FakeWorker>(dice_.fetch_add(1) % 4 ? Kind::started : Kind::lent,
                                           small_engine(),
                                           WorkerOptions{.max_streams = 48, .max_events = 12});
  }

  void work(unsigned seed) {
    Random random(seed * 7919 + 1);
    while (left_.fetch_sub(1) > 0) {
      Place& place = places_[random() % places_.size()];
      const auto op = random() % 100;
      if (op < 12)
        replace(place, random);
      else
        use(place, op, random);
    }
  }

  void replace(Place& place, Random& random) {
    const Request request =
        ask(static_cast<int64_t>(1 + random() % 120), static_cast<TokenId>(random() % 64));
    Stream stream;
    {
      const std::shared_lock lock(worker_mutex_);
      auto made = worker_->worker.submit(request);
      if (made) stream = *std::move(made);
    }
    if (stream && random() % 3 == 0) return spawn_reader(std::move(stream), request, random);
    const std::unique_lock lock(place.mutex);
    place.stream = Stream();
    place.memory = std::make_unique<int64_t>(0);
    place.stream = std::move(stream);
    place.chain.emplace(request);
  }

  void spawn_reader(Stream stream, const Request& request, Random& random) {
    ++spawned_;
    std::stop_source stop;
    const Whim where{&pool_, &dice_, static_cast<int>(random() % 3)};
    auto task = read_task(std::move(stream), where, request, 1 + static_cast<int>(random() % 60));
    const bool stops = random() % 2;
    if (random() % 8 == 0) {
      std::jthread stopper([&, wait = random() % 2000] {
        std::this_thread::sleep_for(std::chrono::microseconds(wait));
        stop.request_stop();
      });
      (void)sync_wait(std::move(task), stop.get_token());
      ++reaped_;
    } else {
      spawn(std::move(task), [this](bool) { ++reaped_; }, stop.get_token());
      if (stops) stop.request_stop();
    }
  }

  void use(Place& place, uint64_t op, Random& random) {
    const std::shared_lock lock(place.mutex, std::try_to_lock);
    if (!lock || !place.stream) return;
    Stream& stream = place.stream;
    if (op < 60) {
      const std::unique_lock reading(place.reading, std::try_to_lock);
      if (!reading) return;
      const auto wait = std::chrono::microseconds(random() % 300);
      const Token* token =
          op < 35 ? stream.try_next() : stream.next_until(std::chrono::steady_clock::now() + wait);
      if (token) place.chain->see(*token);
    } else if (op < 80) {
      arm(stream, place.memory.get());
    } else if (op < 90) {
      stream.disarm(Ticket{last_ticket_});
    } else if (op < 93) {
      stream.cancel();
    } else if (op < 96) {
      stream.canceller()();
    } else {
      std::this_thread::yield();
    }
  }

  // Says once that it is gone.
  struct Counted {
    std::atomic<int64_t>* gone;
    explicit Counted(std::atomic<int64_t>* to) : gone(to) {}
    Counted(Counted&& other) noexcept : gone(std::exchange(other.gone, nullptr)) {}
    Counted& operator=(Counted&&) = delete;
    ~Counted() {
      if (gone) ++*gone;
    }
  };

  void arm(Stream& stream, int64_t* memory) {
    ++armed_;
    const auto ticket = stream.on_ready([this, memory, counted = Counted(&destroyed_)] {
      ++fired_;
      for (int i = 0; i < 100; ++i) *const_cast<volatile int64_t*>(memory) = i;
    });
    if (ticket) last_ticket_ = ticket->value;
  }

  void control() {
    Random random(42);
    while (left_ > 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
      std::unique_ptr<FakeWorker> old;
      {
        const std::unique_lock lock(worker_mutex_);
        old = std::move(worker_);
        replace_worker();
      }
      switch (random() % 4) {
        case 0:
          old->worker.stop();
          break;
        case 1:
          EXPECT_TRUE(old->worker.drain());
          EXPECT_EQ(old->worker.counts().streams, 0);
          break;
        case 2:
          (void)old->worker.run_for(milliseconds(2));  // refused where it has its own thread
          break;
        default:
          break;
      }
    }
  }

  std::atomic<int64_t> left_;
  std::atomic<unsigned> dice_{1};
  std::atomic<int64_t> armed_{0}, destroyed_{0}, fired_{0}, spawned_{0}, reaped_{0};
  std::atomic<uint64_t> last_ticket_{0};
  Pool pool_{2};
  std::vector<Place> places_ = std::vector<Place>(64);
  std::shared_mutex worker_mutex_;
  std::unique_ptr<FakeWorker> worker_;
};

TEST(Stress, sixty_four_streams_eight_threads_and_workers_that_come_and_go) {
  Stress(operations()).run();
}

TEST(Stress, ten_thousand_races_of_submit_and_cancel) {
  FakeWorker started(Kind::started, small_engine());
  std::vector<std::jthread> threads;
  std::atomic<int64_t> ended{0};
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      std::mt19937 random(i);
      for (int round = 0; round < 2500; ++round) {
        auto stream = started.worker.submit(ask(30, static_cast<TokenId>(random() % 64)));
        if (!stream) {
          ASSERT_EQ(stream.error().code, Error::busy);
          continue;
        }
        std::jthread other;
        if (random() % 4 == 0)
          other = std::jthread([cancel = stream->canceller()] { cancel(); });
        else if (random() % 2)
          stream->cancel();
        if (random() % 2) continue;  // destroyed at once
        if (!other.joinable()) stream->cancel();
        while (stream->next()) continue;
        ++ended;
      }
    });
  threads.clear();
  wait_for([&] { return started.worker.counts().pages_used == 0; });
  EXPECT_TRUE(started.worker.drain());
  EXPECT_EQ(started.worker.counts().streams, 0);
  EXPECT_GT(ended, 0);
}

}  // namespace
}  // namespace mummu::test
