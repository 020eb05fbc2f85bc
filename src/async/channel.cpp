#include "async/channel.h"

#include "async/driver.h"
#include "async/driving.h"

namespace mummu {

Channel::Channel(std::shared_ptr<Driver> driver, size_t bound)
    : driver_(std::move(driver)), bound_(bound) {}
Channel::~Channel() = default;

Channel::WakeChain::~WakeChain() {
  if (first_) first_->changed_.notify_all();
}

bool Channel::forked() const { return driver_ && driver_->forked(); }

void Channel::post() noexcept {
  if (driver_) driver_->post(shared_from_this());
}

// ---- reading

Pulled Channel::take_next(bool& mail) {
  if (detached_) return {Pull::cancelled};
  if (queued() == 0) return {closed_ ? Pull::end : Pull::empty};
  const void* event = take();
  if (paused_ && queued() <= bound_ / 2) {
    paused_ = false;
    mail = true;
  }
  return {Pull::event, event};
}

Pulled Channel::try_next() {
  bool mail = false;
  Pulled pulled;
  {
    const Lock lock(mutex_);
    if (taken()) return {Pull::invalid};
    pulled = take_next(mail);
  }
  if (mail) post();
  return pulled;
}

Pulled Channel::next_until(SteadyTime until) {
  if (driving_here()) return {Pull::invalid};
  bool mail = false;
  Pulled pulled;
  std::shared_ptr<Channel> woken_next;
  {
    const Lock lock(mutex_);
    if (taken()) return {Pull::invalid};
    reading_ = true;
    while (!ready())
      if (!changed_.wait_until(mutex_, until)) break;
    reading_ = woken_ = false;
    woken_next = std::move(wake_next_);
    pulled = take_next(mail);
    if (pulled.why == Pull::empty) pulled.why = Pull::timeout;
  }
  if (woken_next) woken_next->changed_.notify_all();
  if (mail) post();
  return pulled;
}

Pull Channel::on_ready(Callback<void()>& function, uint64_t& ticket) {
  const Lock lock(mutex_);
  if (detached_) return Pull::cancelled;
  if (taken()) return Pull::invalid;
  function_ = std::move(function);
  ticket = ++generation_;
  fire_locked();  // inside a running function of this stream, that one's loop picks it up
  return Pull::event;
}

bool Channel::disarm(uint64_t ticket) {
  Callback<void()> dead;  // destroyed after the lock
  const Lock lock(mutex_);
  if (!function_ || ticket != generation_) return false;
  dead = std::move(function_);
  return true;
}

bool Channel::done() {
  const Lock lock(mutex_);
  return closed_ && queued() == 0;
}

// ---- ending

void Channel::close_locked(Error::Code why, const char* message) {
  closed_ = true;
  why_ = why;
  message_ = message;
}

bool Channel::close(Error::Code why, const char* message) noexcept {
  const Lock lock(mutex_);
  if (closed_) return false;
  close_locked(why, message);
  if (reading_) changed_.notify_all();
  return true;
}

void Channel::cancel() noexcept {
  if (!close(Error::cancelled, "the stream was cancelled")) return;
  interrupt();
  post();
}

void Channel::detach() noexcept {
  Callback<void()> dead;  // destroyed after the lock
  {
    const Lock lock(mutex_);
    if (!closed_) close_locked(Error::cancelled, "the stream was destroyed");
    detached_ = true;
    clear();
    changed_.notify_all();
    dead = std::move(function_);
    const auto self = std::this_thread::get_id();
    while (calling_ != std::thread::id() && calling_ != self && calling_function_)
      changed_.wait(mutex_);
  }
  interrupt();
  post();
}

bool Channel::closed() {
  const Lock lock(mutex_);
  return closed_;
}

bool Channel::pause_if_full() {
  if (closed_ || queued() < bound_) return false;
  return paused_ = true;
}

void Channel::lift_pause() {
  const Lock lock(mutex_);
  paused_ = false;
}

bool Channel::paused() {
  const Lock lock(mutex_);
  return paused_;
}

// ---- telling

Channel::Armed Channel::armed() const {
  if (function_ && !detached_) return Armed::function;
  return executor_ ? Armed::executor : Armed::nothing;
}

bool Channel::may_fire() const {
  return armed() != Armed::nothing && calling_ == std::thread::id() && (ready() || await_stopped_);
}

void Channel::tell(WakeChain& chain) {
  if (armed() != Armed::nothing) {
    fire_locked();
  } else if (reading_ && !woken_) {
    woken_ = true;
    wake_next_ = std::move(chain.first_);
    chain.first_ = shared_from_this();
  }
}

void Channel::fire() noexcept {
  const Lock lock(mutex_);
  if (reading_) changed_.notify_all();
  fire_locked();
}

// `calling_` covers the call and the destruction of what was called. What is armed meanwhile is
// called by this loop, so that nothing nests.
void Channel::fire_locked() noexcept {
  while (may_fire()) {
    calling_ = std::this_thread::get_id();
    calling_function_ = armed() == Armed::function;
    if (calling_function_)
      fire_function();
    else
      fire_executor();
    calling_ = {};
    changed_.notify_all();
  }
}

// A function that throws ends its stream; the driver goes on.
void Channel::fire_function() noexcept {
  Callback<void()> function = std::move(function_);
  mutex_.unlock();
  try {
    function();
  } catch (...) {
    if (close(Error::internal, "a function given to on_ready threw")) {
      interrupt();
      post();
    }
  }
  function.reset();
  mutex_.lock();
}

// An executor that throws has dropped its Resume, which says it all.
void Channel::fire_executor() noexcept {
  Executor executor = std::move(executor_);
  const uint64_t generation = generation_;
  mutex_.unlock();
  try {
    executor(Resume(shared_from_this(), generation));
  } catch (...) {
  }
  executor.reset();
  mutex_.lock();
}

}  // namespace mummu
