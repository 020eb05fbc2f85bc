#include "device/threads.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <exception>

#include "base/float_environment.h"
#include "device/machine.h"

namespace mummu {
namespace {

// How long a helper looks for the next round before it sleeps: longer than the serial parts of a
// step, short against what a spinning core costs others.
constexpr int64_t kSpinNs = 40'000;
// How long the caller spins for the helpers inside before it sleeps and watches them.
constexpr int64_t kPatienceNs = 60'000;
// A helper that held a piece this long without running has lost its core to another program.
constexpr int64_t kStarvedNs = 100'000;
// Time lost to starved helpers counts this often against the time that helpers saved, and savings
// beyond the most are forgotten.
constexpr int64_t kLossWeight = 2;
constexpr int64_t kMostCreditNs = 10'000'000;
// In the red, helpers rest: this long at first, twice as long each time, up to the longest.
constexpr int64_t kFirstRestNs = 25'000'000;
constexpr int64_t kLongestRestNs = 400'000'000;
// Helpers that were useful for this long have a short rest next time.
constexpr int64_t kForgetNs = 200'000'000;

constexpr int kMostHelpers = 1023;

int64_t read_clock_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

int64_t now_ns() { return read_clock_ns(CLOCK_MONOTONIC); }

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until done() or for about `ns`; returns done().
template <typename Done>
bool spin(int64_t ns, Done&& done) {
  const int64_t end = now_ns() + ns;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      pause();
    }
  } while (now_ns() < end);
  return done();
}

// Keeps the host's signal handlers off the threads that start while it lives.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t saved_;
};

}  // namespace

ThreadPool::ThreadPool(int helpers) : credit_ns_(kMostCreditNs) {
  const SignalsBlocked blocked;
  helpers_.reserve(static_cast<size_t>(helpers));
  for (int i = 0; i < helpers; ++i) {
    auto helper = std::make_unique<Helper>();
    try {
      helper->thread = std::thread(
          [this, self = helper.get()] { run_in_default_float_environment([&] { help(*self); }); });
    } catch (const std::system_error&) {
      return;
    }
    const pthread_t handle = helper->thread.native_handle();
    helper->has_clock = pthread_getcpuclockid(handle, &helper->cpu_clock) == 0;
    helpers_.push_back(std::move(helper));
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_.store(true);
  }
  round_started_.notify_all();
  for (auto& helper : helpers_) helper->thread.join();
}

void ThreadPool::for_each(int64_t count, void (*work)(void*, int64_t), void* context) {
  if (count <= 1 || helpers_.empty() || resting()) {
    for (int64_t i = 0; i < count; ++i) work(context, i);
    return;
  }
  job_ = {work, context, count};
  next_.store(0, std::memory_order_relaxed);
  const int64_t start = now_ns();
  open_gate();
  const int64_t own = std::max<int64_t>(1, take_pieces());
  const int64_t end = now_ns();
  const int64_t saved = (end - start) / own * (count - own);
  account(saved, wait_for_helpers());
}

// --- helpers ----------------------------------------------------------------------------------

void ThreadPool::help(Helper& self) {
  pthread_setname_np(pthread_self(), "mummu");
  Gate seen = 0;
  while (wait_for_round(seen)) {
    if (!enter(seen)) continue;
    self.inside.store(true, std::memory_order_relaxed);
    take_pieces();
    leave(self);
  }
}

// Waits for a round other than `seen`, and makes that the seen one; false when the pool ends.
bool ThreadPool::wait_for_round(Gate& seen) {
  const auto started = [&] { return round_of(gate_.load(std::memory_order_relaxed)) != seen; };
  const auto done = [&] { return started() || stop_.load(std::memory_order_relaxed); };
  if (!spin(kSpinNs, done)) {
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1);
    round_started_.wait(lock, [&] { return round_of(gate_.load()) != seen || stop_.load(); });
    sleepers_.fetch_sub(1);
  }
  seen = round_of(gate_.load());
  return !stop_.load();
}

bool ThreadPool::enter(Gate seen) {
  Gate gate = gate_.load(std::memory_order_relaxed);
  while (round_of(gate) == seen && (gate & kOpen) != 0) {
    if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void ThreadPool::leave(Helper& self) {
  self.inside.store(false, std::memory_order_relaxed);
  if ((gate_.load(std::memory_order_relaxed) & kOpen) == 0) {
    self.left_ns.store(now_ns(), std::memory_order_relaxed);
  }
  const Gate before = gate_.fetch_sub(1);
  if ((before & (kOpen | kInside)) == 1 && caller_sleeps_.load()) {
    {
      const std::lock_guard lock(mutex_);
    }
    last_left_.notify_one();
  }
}

// Works until all pieces are handed out; returns how many it did.
int64_t ThreadPool::take_pieces() {
  const Job job = job_;
  for (int64_t done = 0;; ++done) {
    const int64_t piece = next_.fetch_add(1, std::memory_order_relaxed);
    if (piece >= job.count) return done;
    job.work(job.context, piece);
  }
}

// --- the caller -------------------------------------------------------------------------------

// Lets helpers in and wakes those that sleep. A helper counts itself a sleeper before it looks at
// the gate for the last time, and the caller looks at the sleepers after it has changed the gate:
// in the one order of all these operations, one of the two sees the other.
void ThreadPool::open_gate() {
  gate_.store((round_of(gate_.load(std::memory_order_relaxed)) + 1) << 16 | kOpen);
  if (sleepers_.load() == 0) return;
  {
    const std::lock_guard lock(mutex_);
  }
  round_started_.notify_all();
}

// Returns how long the caller waited for a helper that had lost its core.
int64_t ThreadPool::wait_for_helpers() {
  const Gate gate = gate_.fetch_and(~kOpen, std::memory_order_acquire);
  if ((gate & kInside) == 0) return 0;
  const auto empty = [&] { return (gate_.load(std::memory_order_acquire) & kInside) == 0; };
  if (spin(kPatienceNs, empty)) return 0;
  const int64_t since = now_ns();
  watch_helpers();
  block_until_empty();
  const int64_t starved = starved_ns(since);
  return starved > kStarvedNs ? starved : 0;
}

void ThreadPool::block_until_empty() {
  std::unique_lock lock(mutex_);
  caller_sleeps_.store(true);
  last_left_.wait(lock, [&] { return (gate_.load() & kInside) == 0; });
  caller_sleeps_.store(false);
}

// Notes the processor time of the helpers that are still inside.
void ThreadPool::watch_helpers() {
  for (auto& helper : helpers_) {
    const bool watch = helper->has_clock && helper->inside.load(std::memory_order_relaxed);
    helper->watched_cpu_ns = watch ? read_clock_ns(helper->cpu_clock) : -1;
  }
}

// How long a watched helper was without a core since then, at the most. A helper that computed all
// the while merely had a long piece.
int64_t ThreadPool::starved_ns(int64_t since_ns) const {
  int64_t longest = 0;
  for (const auto& helper : helpers_) {
    if (helper->watched_cpu_ns < 0) continue;
    const int64_t ran = read_clock_ns(helper->cpu_clock) - helper->watched_cpu_ns;
    const int64_t passed = helper->left_ns.load(std::memory_order_relaxed) - since_ns;
    longest = std::max(longest, passed - ran);
  }
  return longest;
}

void ThreadPool::account(int64_t saved_ns, int64_t lost_ns) {
  credit_ns_ = std::min(credit_ns_ + saved_ns - kLossWeight * lost_ns, kMostCreditNs);
  if (lost_ns > 0 && credit_ns_ < 0) rest(now_ns());
}

// Whether the helpers step back now; they sleep, because no round starts for them.
bool ThreadPool::resting() {
  if (rest_until_ns_ == 0) return false;
  const int64_t now = now_ns();
  if (now < rest_until_ns_) return true;
  rest_until_ns_ = 0;
  resumed_ns_ = now;
  return false;
}

void ThreadPool::rest(int64_t now_ns) {
  const bool again = rest_ns_ != 0 && now_ns - resumed_ns_ < kForgetNs;
  rest_ns_ = again ? std::min(2 * rest_ns_, kLongestRestNs) : kFirstRestNs;
  rest_until_ns_ = now_ns + rest_ns_;
  credit_ns_ = 0;
}

Threads::Threads(int n) {
  const int threads = n == 0 ? usable_cores() : n;
  if (threads <= 1) return;
  try {
    auto pool = std::make_unique<ThreadPool>(std::min(threads - 1, kMostHelpers));
    if (pool->width() > 1) pool_ = std::move(pool);
  } catch (const std::exception&) {
    return;  // no memory for a pool: serial, as width() tells
  }
}

}  // namespace mummu
