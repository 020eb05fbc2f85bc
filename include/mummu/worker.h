#pragma once

// The one who drives engines, so that nobody else has to: requests go in from any thread, streams
// come back. A Worker has a thread of its own (Worker::start), or is lent one, as often and as long
// as the host likes (run, run_once, run_for). Engines of one device share it and take turns by
// step; mail (a new request, a cancel, a reader who caught up) is read before every step. All
// functions may be called from any thread, except where they say otherwise.

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <stop_token>

#include "mummu/callback.h"
#include "mummu/device.h"
#include "mummu/engine.h"
#include "mummu/export.h"
#include "mummu/result.h"
#include "mummu/stream.h"
#include "mummu/thread_facts.h"
#include "mummu/turn.h"

namespace mummu {

struct WorkerOptions {
  int64_t max_streams = 1024;  // open at once; more: busy
  int64_t max_events = 64;     // unread in a stream; at that bound its sequence pauses
};

// How a Worker stands, after its latest step.
struct WorkerCounts {
  int64_t streams = 0;  // submitted and not ended
  int64_t waiting = 0;  // choices that have not run yet
  int64_t steps = 0;
  int64_t pages_used = 0, pages_free = 0;  // of keys and values, in all engines
};

class MUMMU_API Worker {
 public:
  // A Worker that sleeps and works on a thread of its own.
  //   errors   no_memory, internal (no thread), invalid (options)
  static Result<Worker> start(const Device& device, WorkerOptions options = {});
  // A Worker that is lent threads.
  explicit Worker(const Device& device, WorkerOptions options = {});
  Worker(Worker&&) noexcept;
  Worker& operator=(Worker&&) noexcept;
  // Cancels every stream and waits for the thread that drives. On that thread itself, inside a
  // function it called, it closes every stream, destroys the engines and returns: what they used
  // may be destroyed next. `start` must have returned.
  ~Worker();

  // Takes an engine over, together with what must live as long (such as a ModelSlot's guard). Its
  // memory is allocated now.
  //   errors   invalid (an engine of another device), those of Engine::admit about the engine
  Result<void> add(Engine engine, std::shared_ptr<const void> keep = nullptr);

  // Hands a request to the engine whose model it was made for. It is checked here, on the caller's
  // thread, and nothing is computed here.
  //   errors   those of Engine::admit; busy (too many streams, or too many choices that wait),
  //            cancelled (stopped, draining), device_lost
  Result<Stream> submit(Request request);
  // The same for who wants the answer of choice 0 and no stream. The future never lacks a value.
  std::future<Result<Completion>> submit_all(Request request);

  // Lends this thread. Only one call at a time may drive, others get `invalid`.
  //   errors   invalid, device_lost
  // Until `stop` is requested: returns after the step in progress and cancels nothing; or until the
  // worker is stopped or drained.
  Result<void> run(std::stop_token stop = {});
  // At most one step.
  Result<Turn> run_once();
  // Steps until the time is over or there is nothing to do.
  Result<Turn> run_for(std::chrono::steady_clock::duration budget);
  // `function` is called, from any thread, when mail comes to a lent Worker that was idle: time to
  // lend it a thread. It must only schedule that.
  Result<void> on_work(Callback<void()> function);

  // Takes nothing new, lifts every stream's bound (a stream may then hold all its events), and
  // returns when all have ended; events stay readable. On a lent Worker that nobody drives it
  // drives.
  //   errors   invalid (on a thread that drives), device_lost
  Result<void> drain();
  // Cancels every stream; returns at once.
  void stop() noexcept;

  // Whether the device still works.
  //   errors   device_lost
  Result<void> status() const;
  WorkerCounts counts() const;

  class State;

 private:
  explicit Worker(std::shared_ptr<State> state);
  void destroy() noexcept;

  std::shared_ptr<State> state_;
};

// What goes to the thread that drives, and what comes back.
static_assert(thread_movable<Engine> && thread_movable<Request> && thread_movable<Stream> &&
              thread_movable<Completion>);
// Every engine of a model reads it, and so does whoever tokenises.
static_assert(thread_shareable<Model>);

template <>
struct ThreadFacts<Worker> : MovableOnly {};

}  // namespace mummu
