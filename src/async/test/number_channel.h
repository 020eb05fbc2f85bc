#pragma once

// For tests: a channel of numbers that the test itself fills, and executors.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "async/channel.h"
#include "async/ring.h"
#include "mummu/task.h"

namespace mummu::test {

class NumberChannel final : public Channel {
 public:
  explicit NumberChannel(size_t bound = 64) : Channel(nullptr, bound), numbers_(bound) {}

  void push(int number) {
    WakeChain chain;
    const Lock lock(mutex_);
    numbers_.push(number);
    tell(chain);
  }
  void end() {
    close(Error::cancelled, "");
    fire();
  }
  template <typename Where>
  NextAwait<int, Where> next(Where executor) {
    return NextAwait<int, Where>(shared_from_this(), std::move(executor));
  }

 private:
  size_t queued() const override MUMMU_REQUIRES(mutex_) { return numbers_.size(); }
  const void* take() override MUMMU_REQUIRES(mutex_) {
    numbers_.pop(current_);
    return &current_;
  }
  void clear() noexcept override MUMMU_REQUIRES(mutex_) { numbers_.clear(); }

  Ring<int> numbers_ MUMMU_GUARDED_BY(mutex_);
  int current_ MUMMU_GUARDED_BY(mutex_) = 0;
};

// Keeps what it is given until the test runs it.
struct Shelf {
  std::deque<Resume> resumes;
  auto executor() {
    return [this](Resume resume) { resumes.push_back(std::move(resume)); };
  }
  void run_one() {
    Resume resume = std::move(resumes.front());
    resumes.pop_front();
    resume();
  }
};

inline constexpr auto drop_resume = [](Resume) noexcept {};

// Threads that run what they are given. Its destructor runs what is left.
class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  auto executor() {
    return [this](Resume resume) { post(std::move(resume)); };
  }
  void post(Resume resume) {
    const std::lock_guard lock(mutex_);
    resumes_.push_back(std::move(resume));
    changed_.notify_one();
  }

 private:
  void run() {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || !resumes_.empty(); });
      if (resumes_.empty()) return;
      Resume resume = std::move(resumes_.front());
      resumes_.pop_front();
      lock.unlock();
      resume();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Resume> resumes_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

// Says that it was destroyed.
struct Gone {
  explicit Gone(bool* flag) : flag_(flag) {}
  Gone(Gone&& other) noexcept : flag_(std::exchange(other.flag_, nullptr)) {}
  Gone& operator=(Gone&&) = delete;
  ~Gone() {
    if (flag_) *flag_ = true;
  }

 private:
  bool* flag_;
};

}  // namespace mummu::test
