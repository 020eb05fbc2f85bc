#include "async/driver.h"

#include "async/driving.h"
#include "base/fail.h"

namespace mummu {

// ---- mail

void Driver::append(std::shared_ptr<Channel> channel) noexcept {
  channel->mailed_ = true;
  Channel* last = channel.get();
  (tail_ ? tail_->next_mail_ : head_) = std::move(channel);
  tail_ = last;
  ++letters_;
  mail_.store(true, std::memory_order_relaxed);
}

std::shared_ptr<Channel> Driver::pop() noexcept {
  std::shared_ptr<Channel> first = std::move(head_);
  if (!first) return first;
  head_ = std::move(first->next_mail_);
  if (!head_) tail_ = nullptr;
  first->mailed_ = false;
  --letters_;
  return first;
}

// Wakes the driver, or says what is to be called, without the lock, so that somebody drives.
std::shared_ptr<Callback<void()>> Driver::wake() noexcept {
  changed_.notify_one();
  rouse();
  if (!idle_ || has_thread_ || driver_ != std::thread::id()) return nullptr;
  idle_ = false;
  return on_work_;
}

// Whoever drives looks at how things stand.
void Driver::look_up() noexcept {
  mail_.store(true, std::memory_order_relaxed);
  changed_.notify_all();
  rouse();
}

namespace {

void call(const std::shared_ptr<Callback<void()>>& function) noexcept {
  if (!function) return;
  try {
    (*function)();
  } catch (...) {  // on_work has nobody to tell
  }
}

}  // namespace

void Driver::post(std::shared_ptr<Channel> channel) noexcept {
  std::shared_ptr<Callback<void()>> on_work;
  {
    const Lock lock(mutex_);
    if (dead_ || channel->mailed_) return;
    append(std::move(channel));
    on_work = wake();
  }
  call(on_work);
}

Result<void> Driver::open(std::shared_ptr<Channel> channel) {
  std::shared_ptr<Callback<void()>> on_work;
  {
    const Lock lock(mutex_);
    MUMMU_TRY(status());
    if (stop_ || dead_) return fail(Error::cancelled, "{}", stopped());
    if (draining_) return fail(Error::cancelled, "{}", draining());
    if (open_ >= most_open_)
      return fail(Error::busy, "{} streams are open, at most {} may be", open_, most_open_);
    MUMMU_TRY(may_open(*channel));
    ++open_;
    append(std::move(channel));
    on_work = wake();
  }
  call(on_work);
  return {};
}

void Driver::closed_one() {
  if (--open_ == 0) settled_.notify_all();
}

// At most what lay there at first: mail that mail causes comes after the next step.
void Driver::take_mail() {
  if (!mail_.load(std::memory_order_relaxed)) return;
  int64_t letters = 0;
  bool lifts = false;
  {
    const Lock lock(mutex_);
    mail_.store(false, std::memory_order_relaxed);
    letters = letters_;
    lifts = draining_ && !lifted_;
  }
  for (; letters > 0; --letters) {
    std::shared_ptr<Channel> channel;
    {
      const Lock lock(mutex_);
      channel = pop();
    }
    if (!channel) return;
    handle(channel);
    if (gone()) return;
  }
  if (!lifts) return;
  lifted_ = true;
  lift();
}

// ---- driving

Result<Turn> Driver::drive(const Until& until) {
  {
    const Lock lock(mutex_);
    if (driver_ != std::thread::id())
      return fail(Error::invalid, "another call drives this already");
    if (dead_) return Turn::idle;
    driver_ = std::this_thread::get_id();
  }
  role_.assume();
  const auto keep = shared_from_this();  // the handle may die inside
  const DrivingScope driving(this);
  const std::stop_callback wake(until.stop, [this]() noexcept {
    const Lock lock(mutex_);
    look_up();
  });
  while (true) {
    take_mail();
    if (gone() || !wait_for_work(until)) break;
    if (!has_work()) continue;
    step(until.one_step ? SteadyTime::min() : until.time);
    if (gone() || until.one_step) break;
  }
  return leave(!gone() && has_work());
}

// False: it is time to return. Where there is no work, waits for mail.
bool Driver::wait_for_work(const Until& until) {
  bool stopped = false;
  {
    const Lock lock(mutex_);
    stopped = stop_;
    if (!stopped && ((draining_ && open_ == 0) || until.stop.stop_requested())) return false;
    if (!stopped && mail_.load(std::memory_order_relaxed)) return true;
  }
  if (stopped) {
    end_all(false);
    return false;
  }
  const bool timed = until.time != SteadyTime::max();
  if (timed && std::chrono::steady_clock::now() >= until.time) return false;
  if (has_work()) return true;
  if (!until.wait) return false;
  const Lock lock(mutex_);
  while (!mail_.load(std::memory_order_relaxed) && !stop_ && !until.stop.stop_requested() &&
         !(draining_ && open_ == 0))
    if (!changed_.wait_until(mutex_, until.time)) break;
  return true;
}

Result<Turn> Driver::leave(bool more) {
  const Lock lock(mutex_);
  driver_ = {};
  more = !dead_ && (more || head_);
  idle_ = !more;
  settled_.notify_all();
  MUMMU_TRY(status());
  return more ? Turn::more : Turn::idle;
}

void Driver::on_work(Callback<void()> function) {
  auto shared = std::make_shared<Callback<void()>>(std::move(function));
  {
    const Lock lock(mutex_);
    on_work_.swap(shared);
    if (!idle_ || !head_ || has_thread_) return;
    idle_ = false;
    shared = on_work_;
  }
  call(shared);
}

// ---- ending

void Driver::stop() noexcept {
  const Lock lock(mutex_);
  stop_ = true;
  look_up();
}

void Driver::drain_soon() noexcept {
  const Lock lock(mutex_);
  draining_ = true;
  look_up();
}

Result<void> Driver::drain() {
  if (driving_here())
    return fail(Error::invalid, "drain: this thread drives a worker and may not wait");
  drain_soon();
  while (true) {
    {
      const Lock lock(mutex_);
      while (!dead_ && open_ > 0 && (has_thread_ || driver_ != std::thread::id()))
        settled_.wait(mutex_);
      if (dead_ || open_ == 0) return status();
    }
    (void)drive({});  // lent, and nobody drives; if somebody was quicker, wait again
  }
}

// Every stream gets its end; what is armed on it is called when all are closed.
void Driver::end_all(bool destroy) noexcept {
  {
    const Lock lock(mutex_);
    dead_ = true;
    open_ = 0;
  }
  close_all();
  if (destroy) {
    gone_ = true;
    destroy_driven();
  }
  while (true) {
    std::shared_ptr<Channel> channel;
    {
      const Lock lock(mutex_);
      channel = pop();
    }
    if (!channel) break;
    channel->close(Error::cancelled, stopped());
    channel->fire();
  }
  const Lock lock(mutex_);
  settled_.notify_all();
}

void Driver::send_last(std::shared_ptr<Channel> channel) noexcept {
  const Lock lock(mutex_);
  if (!channel->mailed_) append(std::move(channel));
}

void Driver::start_thread() {
  {
    const Lock lock(mutex_);
    has_thread_ = true;
  }
  thread_ = std::thread([self = shared_from_this()] { (void)self->drive({}); });
}

void Driver::shut_down() noexcept {
  stop();
  bool here = false;
  {
    const Lock lock(mutex_);
    here = driver_ == std::this_thread::get_id();
    while (!here && !thread_.joinable() && driver_ != std::thread::id()) settled_.wait(mutex_);
  }
  if (here && thread_.joinable()) thread_.detach();
  if (!here && thread_.joinable()) thread_.join();
  role_.assume();
  end_all(true);
}

}  // namespace mummu
