#pragma once

// A stream of events that somebody else produces (tokens of a Worker, the progress of a Loader), to
// be read from any thread, one reader at a time.
//
// The reader's place is taken by a next that blocks, an armed on_ready, or an await until it has
// returned. While it is taken every other reading call, try_next too, gives Pull::invalid.
// Destroying a stream cancels what it is about: it calls nothing of yours but Worker::on_work (it
// may destroy a function that was armed, and waits for one that is running) and does not wait for
// the driver. To
// start any call on a stream while it is being destroyed is a race of the host; to cancel from
// elsewhere there is canceller(). In a forked child every call is `invalid`, and destructors do
// nothing.

#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>

#include "mummu/await.h"
#include "mummu/callback.h"
#include "mummu/export.h"
#include "mummu/pull.h"
#include "mummu/result.h"
#include "mummu/thread_facts.h"

namespace mummu {

// Cancels a stream, from any thread, whether or not the stream still lives. May be copied.
class MUMMU_API Canceller {
 public:
  Canceller() = default;
  explicit Canceller(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
  void operator()() const noexcept;

 private:
  std::shared_ptr<Channel> channel_;
};

template <>
struct ThreadFacts<Canceller> : MovableAndShareable {};

// Names one on_ready, so that it can be taken back.
struct Ticket {
  uint64_t value = 0;
};

// What streams of all events have in common.
class MUMMU_API AnyStream {
 public:
  AnyStream() = default;
  explicit AnyStream(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
  AnyStream(AnyStream&&) noexcept = default;
  AnyStream& operator=(AnyStream&& other) noexcept;
  ~AnyStream();

  // Has `function` called once, when next() would not wait: here and at once if that is now, else
  // by the thread that drives (or by ~Worker), never under a lock. It may schedule, try_next, call
  // on_ready again (which is run after it, not inside it), destroy this stream or the Worker; it
  // may not destroy another stream, nor block. If it throws, its stream ends with `internal`.
  //   errors   invalid (the place is taken; a forked child), cancelled (no stream)
  Result<Ticket> on_ready(Callback<void()> function);
  // Takes it back, destroyed un-run. False: too late, it was called or is being called.
  bool disarm(Ticket ticket);

  // Whether the last event has been read.
  bool done() const;
  // Seen by the reader at once; the driver follows within one step.
  void cancel() noexcept;
  Canceller canceller() const { return Canceller(channel_); }

  explicit operator bool() const { return channel_ != nullptr; }
  // For adapters such as asio.h, which may keep it beyond the stream.
  const std::shared_ptr<Channel>& channel() const { return channel_; }

 protected:
  Pulled pull();
  Pulled pull_until(std::chrono::steady_clock::time_point until);

 private:
  void destroy() noexcept;

  std::shared_ptr<Channel> channel_;
};

template <typename Event>
class EventStream : public AnyStream {
 public:
  static_assert(thread_movable<Event>,
                "EventStream<Event> hands events from thread to thread: Event is not "
                "thread_movable");
  using AnyStream::AnyStream;

  // The next event, which lives until the next reading call. After cancel() the events that are
  // there still come, then the end.

  // What is there now.
  Next<Event> try_next() { return Next<Event>(pull()); }
  // Waits. Pull::invalid on a thread that drives a Worker or Loader, even if it would not wait.
  // Where nobody drives it waits until somebody does.
  Next<Event> next() { return next_until(std::chrono::steady_clock::time_point::max()); }
  // Waits at most until then: Pull::timeout.
  Next<Event> next_until(std::chrono::steady_clock::time_point until) {
    return Next<Event>(pull_until(until));
  }
  // co_await: suspends until there is an event (await.h says what an executor is). Name it in the
  // condition of a loop, `while (const Token* token = co_await stream.next(executor))`: g++ before
  // 13 refuses the form without a name, which it would miscompile.
  //   requires  not moved from
  template <typename Where>
  NextAwait<Event, Where> next(Where executor) {
    return NextAwait<Event, Where>(channel(), std::move(executor));
  }

  // for (const Event& event : stream): next() until the end.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Event;
    using difference_type = std::ptrdiff_t;
    using pointer = const Event*;
    using reference = const Event&;

    Iterator() = default;
    explicit Iterator(EventStream& stream) : stream_(&stream), event_(stream.next()) {}
    const Event& operator*() const { return *event_; }
    Iterator& operator++() {
      event_ = stream_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return event_ == nullptr; }

   private:
    EventStream* stream_ = nullptr;
    const Event* event_ = nullptr;
  };
  Iterator begin() { return Iterator(*this); }
  std::default_sentinel_t end() const { return {}; }
};

// Reading for adapters that keep the channel of a stream beyond the stream; the caller holds a
// share of it. on_ready gives Pull::event when it has taken the function over, else leaves it
// alone.
MUMMU_API Pulled pull(Channel& channel);
MUMMU_API Pull on_ready(Channel& channel, Callback<void()>& function, Ticket& ticket);
MUMMU_API bool disarm(Channel& channel, Ticket ticket);

}  // namespace mummu
