#pragma once

// The pool behind Threads(n): n - 1 helper threads that join the caller's for_each when they are
// there in time, and are never waited for when they are not. It allocates only when it starts.
// One thread at a time calls for_each; work never throws.

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "mummu/device.h"

namespace mummu {

class ThreadPool final : public Parallel::Pool {
 public:
  // Starts up to `helpers` threads; one that cannot be started is left out.
  explicit ThreadPool(int helpers);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int width() const override { return 1 + static_cast<int>(helpers_.size()); }
  void for_each(int64_t count, void (*work)(void*, int64_t), void* context) override;

 private:
  // A round is one for_each. The gate holds its number, whether it is open to helpers, and how many
  // of them are inside:  round << 16 | open << 15 | inside.
  // A helper enters by compare-and-swap on an open gate, so one that comes late finds the gate
  // closed and touches nothing; the caller closes it when all pieces are handed out, and waits only
  // for those inside.
  using Gate = uint64_t;
  static constexpr Gate kOpen = 1U << 15;
  static constexpr Gate kInside = kOpen - 1;
  static Gate round_of(Gate gate) { return gate >> 16; }

  struct Helper {
    std::thread thread;
    clockid_t cpu_clock = 0;
    bool has_clock = false;
    alignas(64) std::atomic<bool> inside{false};
    std::atomic<int64_t> left_ns{0};  // when it last left a gate that was closed already
    // The caller's notes while it waits for this helper.
    int64_t watched_cpu_ns = -1;
  };

  struct Job {
    void (*work)(void*, int64_t) = nullptr;
    void* context = nullptr;
    int64_t count = 0;
  };

  void help(Helper& self);
  bool wait_for_round(Gate& seen);
  bool enter(Gate seen);
  void leave(Helper& self);
  int64_t take_pieces();

  void open_gate();
  int64_t wait_for_helpers();
  void block_until_empty();
  void watch_helpers();
  int64_t starved_ns(int64_t since_ns) const;
  void account(int64_t saved_ns, int64_t lost_ns);
  bool resting();
  void rest(int64_t now_ns);

  alignas(64) std::atomic<Gate> gate_{0};
  alignas(64) std::atomic<int64_t> next_{0};  // the next piece
  alignas(64) Job job_;                       // written while nobody is inside
  std::atomic<int> sleepers_{0};
  std::atomic<bool> caller_sleeps_{false};
  std::atomic<bool> stop_{false};

  // The caller's own account: time that helpers saved it lately, less what waiting for starved ones
  // cost; when helpers that rest are tried again; when they last were; how long they rest.
  int64_t credit_ns_;
  int64_t rest_until_ns_ = 0;
  int64_t resumed_ns_ = 0;
  int64_t rest_ns_ = 0;

  std::mutex mutex_;
  std::condition_variable round_started_;
  std::condition_variable last_left_;
  std::vector<std::unique_ptr<Helper>> helpers_;
};

}  // namespace mummu
