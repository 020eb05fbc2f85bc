#pragma once

// A mutex and a condition that clang's -Wthread-safety understands (base/role.h has the words).
// Every Mutex of this room is a leaf: no two are held at once, and none while foreign code runs or
// is destroyed.

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/role.h"

namespace mummu {

using SteadyTime = std::chrono::steady_clock::time_point;

// Now and so much; the end of time where that is later.
inline SteadyTime time_after(SteadyTime::duration wait) {
  const SteadyTime now = std::chrono::steady_clock::now();
  return wait < SteadyTime::max() - now ? now + wait : SteadyTime::max();
}

class MUMMU_CAPABILITY("mutex") Mutex {
 public:
  void lock() MUMMU_ACQUIRE() { mutex_.lock(); }
  void unlock() MUMMU_RELEASE() { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

class MUMMU_SCOPED Lock {
 public:
  explicit Lock(Mutex& mutex) MUMMU_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() MUMMU_RELEASE() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits may end early for no reason, as those of std::condition_variable.
class Condition {
 public:
  void wait(Mutex& mutex) MUMMU_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // False when the time has come.
  bool wait_until(Mutex& mutex, SteadyTime until) MUMMU_REQUIRES(mutex) {
    if (until == SteadyTime::max()) return wait(mutex), true;
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const auto status = condition_.wait_until(lock, until);
    lock.release();
    return status == std::cv_status::no_timeout;
  }
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace mummu
