#pragma once

// Task<T>: a coroutine that gives a T. It is lazy (nothing runs until it is awaited, spawned or
// waited for), can be moved and not copied, and its owner destroys it. Tasks run in a loop on the
// stack of whoever runs them: a million ready awaits nest nowhere, in any build. Their parameters
// should be values; a lambda that captures should not be one; no lock and no thread_local may be
// held across co_await. Exceptions pass from the inner Task to the outer. With g++ before 13 no
// condition may contain a co_await (await.h): give its value to a variable first.

#include <atomic>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "mummu/await.h"
#include "mummu/export.h"
#include "mummu/result.h"
#include "mummu/resume.h"
#include "mummu/thread_facts.h"

namespace mummu {

template <typename T>
class Task;

struct TaskPromise {
  std::shared_ptr<Root> root;
  std::coroutine_handle<> parent;
  std::exception_ptr exception;

  struct Final {
    bool await_ready() noexcept { return false; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> frame) noexcept {
      TaskPromise& promise = frame.promise();
      if (promise.parent)
        promise.root->then(promise.parent);
      else
        promise.root->finish(promise.exception == nullptr);
    }
    void await_resume() noexcept {}
  };
  std::suspend_always initial_suspend() noexcept { return {}; }
  Final final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { exception = std::current_exception(); }
};

template <typename T>
struct TaskPromiseOf : TaskPromise {
  std::optional<T> value;

  Task<T> get_return_object();
  template <typename U>
    requires std::is_constructible_v<T, U&&>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() {
    if (exception) std::rethrow_exception(exception);
    return std::move(*value);
  }
};

template <>
struct TaskPromiseOf<void> : TaskPromise {
  Task<void> get_return_object();
  void return_void() noexcept {}
  void take() {
    if (exception) std::rethrow_exception(exception);
  }
};

template <typename T>
class [[nodiscard]] Task {
 public:
  static_assert(thread_movable<T>,
                "Task<T> hands its T from thread to thread: T is not thread_movable");
  using promise_type = TaskPromiseOf<T>;
  using Frame = std::coroutine_handle<promise_type>;

  explicit Task(Frame frame) noexcept : frame_(frame) {}
  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (frame_) frame_.destroy();
      frame_ = std::exchange(other.frame_, {});
    }
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

  struct Awaiter {
    Frame frame;
    bool await_ready() noexcept { return false; }
    template <typename Promise>
      requires std::is_base_of_v<TaskPromise, Promise>
    void await_suspend(std::coroutine_handle<Promise> parent) noexcept {
      promise_type& child = frame.promise();
      child.root = parent.promise().root;
      child.parent = parent;
      child.root->then(frame);
    }
    T await_resume() { return frame.promise().take(); }
  };
  // Awaited once, from another Task.
  Awaiter operator co_await() && noexcept { return {frame_}; }
  Awaiter operator co_await() & = delete;  // std::move it: it cannot be awaited again

  // For those who run Tasks: the frame, still owned by this Task.
  Frame frame() const { return frame_; }
  Frame release() noexcept { return std::exchange(frame_, {}); }

 private:
  Frame frame_;
};

template <typename T>
struct ThreadFacts<Task<T>> : MovableOnly {};

template <typename T>
Task<T> TaskPromiseOf<T>::get_return_object() {
  return Task<T>(Task<T>::Frame::from_promise(*this));
}
inline Task<void> TaskPromiseOf<void>::get_return_object() {
  return Task<void>(Task<void>::Frame::from_promise(*this));
}

// Whether this thread is inside run, run_once or run_for of any Worker or Loader. It may not block
// on a stream then.
MUMMU_API bool drives_here();

// Runs a Task and blocks until it has ended. `stop` reaches every await of it: the first that would
// wait gives Pull::cancelled.
//   errors   invalid (this thread drives a Worker or Loader), cancelled (an executor dropped the
//   Resume), no_memory
//   throws   what the Task throws
template <typename T>
Result<T> sync_wait(Task<T> task, std::stop_token stop = {}) {
  if (drives_here())
    return Error{Error::Code::invalid, "sync_wait: this thread drives a worker and may not wait"};
  auto root = Root::make(std::move(stop));
  if (!root) return Error{Error::Code::no_memory, "sync_wait: out of memory"};
  task.frame().promise().root = root;
  Root::run(root, task.frame());
  if (root->wait() == Root::End::abandoned)
    return Error{Error::Code::cancelled, "sync_wait: an executor dropped the task"};
  if constexpr (std::is_void_v<T>) {
    task.frame().promise().take();
    return {};
  } else {
    return task.frame().promise().take();
  }
}

// Starts a Task without waiting for it. It runs here until it first suspends. `done(finished)` is
// called once, where it ends, when the frame is destroyed: true if it returned; false if it was
// abandoned, threw, or could not start for want of memory. What `done` throws is dropped.
template <typename T, typename Done>
void spawn(Task<T> task, Done done, std::stop_token stop = {}) {
  auto root = Root::make(std::move(stop));
  if (!root) {
    {
      const Task<T> dropped = std::move(task);
    }
    done(false);
    return;
  }
  const auto frame = task.release();
  frame.promise().root = root;
  root->when_over(
      frame, [over = std::move(done)](Root::End end) mutable { over(end == Root::End::finished); });
  Root::run(std::move(root), frame);
}
template <typename T>
void spawn(Task<T> task) {
  spawn(std::move(task), [](bool) {});
}

// Waits for several Tasks that run at the same time, each a chain of its own.
class MUMMU_API Join {
 public:
  void add(std::coroutine_handle<> frame, TaskPromise& promise);
  bool await_ready() const noexcept { return children_.empty(); }
  template <typename Promise>
    requires std::is_base_of_v<TaskPromise, Promise>
  bool await_suspend(std::coroutine_handle<Promise> parent) {
    return start(parent, parent.promise().root);
  }
  void await_resume() noexcept {}

 private:
  struct Child {
    std::coroutine_handle<> frame;
    TaskPromise* promise;
  };
  bool start(std::coroutine_handle<> parent, const std::shared_ptr<Root>& root);

  std::vector<Child> children_;
};

template <typename T>
using ValueOrNothing = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <typename T>
ValueOrNothing<T> take_value(Task<T>& task) {
  if constexpr (std::is_void_v<T>) {
    task.frame().promise().take();
    return {};
  } else {
    return task.frame().promise().take();
  }
}

// All of them at the same time; their values in the order given (std::monostate for void). Ends
// when the last has ended; an exception of one is thrown then, the first in order. If one was
// abandoned, so is the whole, when the others have ended.
template <typename... T>
Task<std::tuple<ValueOrNothing<T>...>> when_all(Task<T>... tasks) {
  Join join;
  (join.add(tasks.frame(), tasks.frame().promise()), ...);
  co_await join;
  co_return std::tuple<ValueOrNothing<T>...>{take_value(tasks)...};
}
template <typename T>
Task<std::vector<ValueOrNothing<T>>> when_all(std::vector<Task<T>> tasks) {
  Join join;
  for (Task<T>& task : tasks) join.add(task.frame(), task.frame().promise());
  co_await join;
  std::vector<ValueOrNothing<T>> values;
  for (Task<T>& task : tasks) values.push_back(take_value(task));
  co_return values;
}

}  // namespace mummu
