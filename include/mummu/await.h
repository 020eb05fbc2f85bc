#pragma once

// co_await stream.next(executor): waits for an event without blocking a thread. An executor is a
// copyable function that is called with a Resume when the event is there, and sees to it that the
// Resume is called where the coroutine shall go on:
//   co_await stream.next([&](mummu::Resume resume) { ui.post(std::move(resume)); })
// It is called by the thread that drives the stream, so it should only hand over. resume_inline
// goes on right there. A ready stream never suspends. The awaiting coroutine may be a Task or one
// of another library.

#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "mummu/callback.h"
#include "mummu/export.h"
#include "mummu/pull.h"
#include "mummu/resume.h"

namespace mummu {

using Executor = Callback<void(Resume)>;

// The executor that goes on where the event was made: on the driving thread. Such a coroutine must
// be quick, and cannot block on a stream.
inline constexpr auto resume_inline = [](Resume resume) noexcept { resume(); };

// One wait, whatever the type of the event. Lies in the frame of the coroutine that waits.
class MUMMU_API Await {
 public:
  explicit Await(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
  Await(const Await&) = delete;
  Await& operator=(const Await&) = delete;
  ~Await();

  bool ready();
  // False: there is something already, do not suspend. After true the frame may be gone.
  bool suspend(std::coroutine_handle<> frame, std::shared_ptr<Root> root, Executor executor);
  Pulled finish();

 private:
  struct Stopped {  // called by the thread that requests stop
    Channel* channel;
    uint64_t generation;
    void operator()() const noexcept;
  };

  std::shared_ptr<Channel> channel_;
  uint64_t generation_ = 0;
  bool refused_ = false;
  bool placed_ = false;  // this await holds the reader's place
  std::optional<std::stop_callback<Stopped>> on_stop_;
};

// What every Task's promise begins with.
struct TaskPromise;
template <typename Promise>
std::shared_ptr<Root> root_of(std::coroutine_handle<Promise> frame) {
  if constexpr (std::is_base_of_v<TaskPromise, Promise>)
    return frame.promise().root;
  else
    return nullptr;
}

// What co_await gives: a Next. g++ before 13 puts the value of a condition with a co_await in it
// before the promise in the frame of a coroutine that declares nothing, whatever it awaits and at
// every -O: that coroutine crashes when it is first resumed. There such a condition does not
// compile; naming the event helps, in every compiler.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
template <typename Event>
class Awaited : public Next<Event> {
 public:
  using Next<Event>::Next;
  explicit operator bool() const& { return Next<Event>::operator bool(); }
  explicit operator bool() && {
    static_assert(sizeof(Event) == 0,
                  "g++ before 13 miscompiles a condition that is a co_await; name the event: "
                  "while (const Token* token = co_await stream.next(executor))");
    return false;
  }
};
#else
template <typename Event>
using Awaited = Next<Event>;
#endif

template <typename Event, typename Where>
class [[nodiscard]] NextAwait {
 public:
  NextAwait(std::shared_ptr<Channel> channel, Where executor)
      : await_(std::move(channel)), executor_(std::move(executor)) {}

  bool await_ready() { return await_.ready(); }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> frame) {
    return await_.suspend(frame, root_of(frame), Executor(executor_));
  }
  Awaited<Event> await_resume() { return Awaited<Event>(await_.finish()); }

 private:
  Await await_;
  Where executor_;
};

}  // namespace mummu
