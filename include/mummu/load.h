#pragma once

// Loading a model as a stream of progress that can be pulled, awaited and cancelled. A Loader has a
// thread of its own (Loader::start), or is lent one (run, run_once, run_for), like a Worker. It
// reads as event_stream.h says; unread progress is replaced by newer, so a slow reader holds up
// nothing. It may move between calls. The Device must outlive it.

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include "mummu/device.h"
#include "mummu/event_stream.h"
#include "mummu/export.h"
#include "mummu/model.h"
#include "mummu/result.h"
#include "mummu/thread_facts.h"
#include "mummu/turn.h"

namespace mummu {

class LoadState;

class MUMMU_API Loader : public EventStream<LoadProgress> {
 public:
  // Loads on a thread of its own.
  //   errors   no_memory, internal (no thread)
  static Result<Loader> start(const std::string& path, const Device& device,
                              LoadOptions options = {});
  // Is lent threads. Where there is no memory for it, every call says so.
  Loader(const std::string& path, const Device& device, LoadOptions options = {});
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;
  // Cancels, and waits for the thread that drives: until the tensor at hand has been read. On that
  // thread itself it does not wait.
  ~Loader();

  // Lends this thread: until the load has ended; one tensor; tensors until the time is over.
  //   errors   invalid (another call drives)
  Result<void> run(std::stop_token stop = {});
  Result<Turn> run_once();
  Result<Turn> run_for(std::chrono::steady_clock::duration budget);

  // The model, once the last progress has been read, and once.
  //   errors   invalid (not read to its end; already taken), cancelled, those of Model::load
  Result<Model> result();

 private:
  explicit Loader(std::shared_ptr<LoadState> state);
  void destroy() noexcept;

  std::shared_ptr<LoadState> state_;
};

template <>
struct ThreadFacts<Loader> : MovableOnly {};  // one call at a time, on any thread

}  // namespace mummu
