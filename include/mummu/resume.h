#pragma once

// What suspended coroutines hang on. Root is the owner of one chain of Tasks: whoever runs the
// chain runs it as a loop on its own stack, never nested. Resume is the right to resume one
// suspended await, once; executors get it.

#include <coroutine>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "mummu/callback.h"
#include "mummu/export.h"
#include "mummu/thread_facts.h"

namespace mummu {

class Channel;

// Made by sync_wait, spawn and when_all; shared by the frames of the chain and by every Resume of
// it. A chain runs on one thread at a time; abandon may come from any.
class MUMMU_API Root {
 public:
  enum class End { finished, failed, abandoned };  // failed: an exception left the outermost Task

  // Null where there is no memory.
  static std::shared_ptr<Root> make(std::stop_token stop) noexcept;

  // Runs frames, `first` and what then() names after it, until one suspends elsewhere or the chain
  // is over.
  static void run(std::shared_ptr<Root> root, std::coroutine_handle<> first) noexcept;
  // Called by the frame that runs: which is to run next.
  void then(std::coroutine_handle<> frame) { *next_ = frame; }
  // Called by the outermost frame when it has ended, by value or by exception.
  void finish(bool with_value) noexcept;
  // No line of the chain runs again.
  void abandon() noexcept;

  const std::stop_token& stop() const { return stop_; }

  // To be called once, before run. When the chain is over and nobody runs it, `frame` (may be null)
  // is destroyed and `over` called, by the thread that brought this about.
  void when_over(std::coroutine_handle<> frame, Callback<void(End)> over);
  // Blocks until the chain is over and nobody runs it.
  End wait();

 protected:
  explicit Root(std::stop_token stop) : stop_(std::move(stop)) {}
  ~Root() = default;

 private:
  std::stop_token stop_;
  std::coroutine_handle<>* next_ = nullptr;  // on the stack of the thread that runs the chain
};

// Call it once, on any thread: the coroutine goes on there. Called after the frame died it does
// nothing. A suspended frame may be destroyed only where no other thread can be calling its Resume
// (its executor's thread, or after the executor stopped).
//
// Dropped uncalled, it abandons the await: no line of that coroutine runs again, only destructors.
// sync_wait destroys the frames and returns `cancelled`; a spawned Task is destroyed by the
// dropper, which calls done(false); a Task that you hold, or a coroutine of another library, stays
// suspended until its owner destroys it. The stream stays readable and no event is lost.
class MUMMU_API Resume {
 public:
  Resume(std::shared_ptr<Channel> channel, uint64_t generation) noexcept;
  Resume(Resume&&) noexcept = default;
  Resume& operator=(Resume&&) = delete;
  ~Resume();

  void operator()() noexcept;

 private:
  std::shared_ptr<Channel> channel_;
  uint64_t generation_ = 0;
};

template <>
struct ThreadFacts<Resume> : MovableOnly {};

}  // namespace mummu
