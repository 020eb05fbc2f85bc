// The public edge of Worker: nothing is thrown into the host, and a forked child is told so.

#include "mummu/worker.h"

#include "async/leak.h"
#include "async/worker_state.h"
#include "base/edge.h"
#include "base/fail.h"

namespace mummu {
namespace {

// The answer of choice 0, once its stream has been read to the end. It owns the stream that calls
// it.
class Collect {
 public:
  explicit Collect(Stream stream) : stream_(std::move(stream)) {}

  std::future<Result<Completion>> future() { return promise_.get_future(); }

  static void go_on(std::unique_ptr<Collect> self) {
    Stream& stream = self->stream_;
    while (stream.try_next()) {
    }
    if (stream.done()) return self->promise_.set_value(stream.result());
    (void)stream.on_ready([next = std::move(self)]() mutable { go_on(std::move(next)); });
  }

 private:
  Stream stream_;
  std::promise<Result<Completion>> promise_;
};

std::future<Result<Completion>> ready_future(Error error) {
  std::promise<Result<Completion>> promise;
  promise.set_value(std::move(error));
  return promise.get_future();
}

}  // namespace

Worker::Worker(std::shared_ptr<State> state) : state_(std::move(state)) {}

Worker::Worker(const Device& device, WorkerOptions options) {
  try {
    state_ = std::make_shared<State>(device, options);
  } catch (const std::bad_alloc&) {  // every call says so
  }
}

Result<Worker> Worker::start(const Device& device, WorkerOptions options) {
  return at_edge([&]() -> Result<Worker> {
    MUMMU_TRY(State::check(options));
    Worker worker(std::make_shared<State>(device, options));
    worker.state_->start_thread();
    return worker;
  });
}

Worker::Worker(Worker&& other) noexcept = default;

Worker& Worker::operator=(Worker&& other) noexcept {
  if (this == &other) return *this;
  destroy();
  state_ = std::move(other.state_);
  return *this;
}

Worker::~Worker() { destroy(); }

void Worker::destroy() noexcept {
  auto state = std::exchange(state_, nullptr);
  if (!state) return;
  if (state->forked()) return leak(std::move(state));
  state->shut_down();
}

Result<void> Worker::add(Engine engine, std::shared_ptr<const void> keep) {
  return at_edge([&]() -> Result<void> {
    MUMMU_TRY(State::check(state_));
    return state_->add(std::move(engine), std::move(keep));
  });
}

Result<Stream> Worker::submit(Request request) {
  return at_edge([&]() -> Result<Stream> {
    MUMMU_TRY(State::check(state_));
    return state_->submit(std::move(request));
  });
}

std::future<Result<Completion>> Worker::submit_all(Request request) {
  auto stream = submit(std::move(request));
  if (!stream) return ready_future(std::move(stream).error());
  auto collect = std::make_unique<Collect>(*std::move(stream));
  auto future = collect->future();
  Collect::go_on(std::move(collect));
  return future;
}

Result<void> Worker::run(std::stop_token stop) {
  return at_edge([&]() -> Result<void> {
    MUMMU_TRY(State::check(state_));
    MUMMU_TRY(state_->drive({.stop = std::move(stop)}));
    return {};
  });
}

Result<Turn> Worker::run_once() {
  return at_edge([&]() -> Result<Turn> {
    MUMMU_TRY(State::check(state_));
    return state_->drive({.one_step = true, .wait = false});
  });
}

Result<Turn> Worker::run_for(std::chrono::steady_clock::duration budget) {
  return at_edge([&]() -> Result<Turn> {
    MUMMU_TRY(State::check(state_));
    return state_->drive({.time = time_after(budget), .wait = false});
  });
}

Result<void> Worker::on_work(Callback<void()> function) {
  return at_edge([&]() -> Result<void> {
    MUMMU_TRY(State::check(state_));
    state_->on_work(std::move(function));
    return {};
  });
}

Result<void> Worker::drain() {
  return at_edge([&]() -> Result<void> {
    MUMMU_TRY(State::check(state_));
    return state_->drain();
  });
}

void Worker::stop() noexcept {
  if (state_ && !state_->forked()) state_->stop();
}

Result<void> Worker::status() const {
  return at_edge([&]() -> Result<void> {
    MUMMU_TRY(State::check(state_));
    return state_->told_status();
  });
}

WorkerCounts Worker::counts() const {
  return state_ && !state_->forked() ? state_->counts() : WorkerCounts();
}

}  // namespace mummu
