#pragma once

// What a thread drives: the shared block of a Worker or a Loader, with its inbox. Streams and
// handles send mail from any thread; whoever is inside drive() has the driver's role, reads the
// mail before every step, and is the only one who touches what the derived class keeps for it. Mail
// is the channel itself: sending it allocates nothing.

#include <atomic>
#include <memory>
#include <stop_token>
#include <thread>

#include "async/channel.h"
#include "async/fork_page.h"
#include "async/mutex.h"
#include "mummu/callback.h"
#include "mummu/result.h"
#include "mummu/turn.h"

namespace mummu {

class Driver : public std::enable_shared_from_this<Driver> {
 public:
  explicit Driver(int64_t most_open) : most_open_(most_open) {}
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  bool forked() const { return fork_page_.forked(); }

  // Any thread
  void post(std::shared_ptr<Channel> channel) noexcept;
  // Takes in a new stream.
  //   errors   cancelled (stopped, draining), busy
  Result<void> open(std::shared_ptr<Channel> channel);
  void on_work(Callback<void()> function);
  void stop() noexcept;
  // Takes nothing new and lifts the bounds; whoever drives returns when all have ended.
  void drain_soon() noexcept;
  Result<void> drain();

  struct Until {
    std::stop_token stop{};
    SteadyTime time = SteadyTime::max();
    bool one_step = false;
    bool wait = true;  // for work; else returns when there is none
  };
  //   errors   invalid (another thread drives), or what the driven says has become of it
  Result<Turn> drive(const Until& until);

  // Starts the one thread that drives until stop.
  //   throws   std::system_error, std::bad_alloc
  void start_thread();
  // For the destructor of the handle: stops, waits for whoever drives, ends every stream and frees
  // what is driven. On the driving thread itself it does not wait.
  void shut_down() noexcept;

 protected:
  // Driver: in these functions foreign code may run, and may shut_down() before they return:
  // they look at gone() after whatever may call it.
  virtual void handle(const std::shared_ptr<Channel>& channel) MUMMU_REQUIRES(role_) = 0;
  virtual bool has_work() MUMMU_REQUIRES(role_) = 0;
  // Where it has to wait for something but mail, it waits at most until then, or until rouse().
  virtual void step(SteadyTime wait_until) MUMMU_REQUIRES(role_) = 0;
  // Driver: takes off the bounds of all streams, because of drain.
  virtual void lift() MUMMU_REQUIRES(role_) = 0;
  // Driver: forgets what is under way and closes its streams, calling nothing of the user's; hands
  // each to send_last.
  virtual void close_all() noexcept MUMMU_REQUIRES(role_) = 0;
  // Driver: frees what is driven.
  virtual void destroy_driven() noexcept MUMMU_REQUIRES(role_) = 0;
  // What waits inside step() is to return.
  virtual void rouse() noexcept MUMMU_REQUIRES(mutex_) {}
  virtual const char* stopped() const noexcept { return "the worker was stopped"; }
  virtual const char* draining() const noexcept { return "the worker is being drained"; }
  // Called with the lock held, when a stream is taken in; and what drive returns when it is bad.
  virtual Result<void> may_open(const Channel&) MUMMU_REQUIRES(mutex_) { return {}; }
  virtual Result<void> status() MUMMU_REQUIRES(mutex_) { return {}; }

  bool gone() const MUMMU_REQUIRES(role_) { return gone_; }
  bool has_mail() const { return mail_.load(std::memory_order_relaxed); }
  bool lifted() const MUMMU_REQUIRES(role_) { return lifted_; }
  int64_t open() const MUMMU_REQUIRES(mutex_) { return open_; }
  void closed_one() MUMMU_REQUIRES(mutex_);
  void send_last(std::shared_ptr<Channel> channel) noexcept MUMMU_REQUIRES(role_);

  Mutex mutex_;
  Role role_;

 private:
  void append(std::shared_ptr<Channel> channel) noexcept MUMMU_REQUIRES(mutex_);
  std::shared_ptr<Channel> pop() noexcept MUMMU_REQUIRES(mutex_);
  std::shared_ptr<Callback<void()>> wake() noexcept MUMMU_REQUIRES(mutex_);
  void look_up() noexcept MUMMU_REQUIRES(mutex_);
  void take_mail() MUMMU_REQUIRES(role_);
  bool wait_for_work(const Until& until) MUMMU_REQUIRES(role_);
  void end_all(bool destroy) noexcept MUMMU_REQUIRES(role_);
  Result<Turn> leave(bool more);

  const ForkPage fork_page_;
  const int64_t most_open_;
  std::atomic<bool> mail_ = false;  // a hint: look into the inbox

  Condition changed_;  // for the driver
  Condition settled_;  // for those who wait for the driver
  std::shared_ptr<Channel> head_ MUMMU_GUARDED_BY(mutex_);
  Channel* tail_ MUMMU_GUARDED_BY(mutex_) = nullptr;
  int64_t letters_ MUMMU_GUARDED_BY(mutex_) = 0;
  int64_t open_ MUMMU_GUARDED_BY(mutex_) = 0;  // streams taken in and not ended
  bool stop_ MUMMU_GUARDED_BY(mutex_) = false;
  bool draining_ MUMMU_GUARDED_BY(mutex_) = false;
  bool dead_ MUMMU_GUARDED_BY(mutex_) = false;
  bool idle_ MUMMU_GUARDED_BY(mutex_) = true;  // nobody drives, and there is nothing to do
  std::thread::id driver_ MUMMU_GUARDED_BY(mutex_);
  std::shared_ptr<Callback<void()>> on_work_ MUMMU_GUARDED_BY(mutex_);
  bool has_thread_ MUMMU_GUARDED_BY(mutex_) = false;

  bool lifted_ MUMMU_GUARDED_BY(role_) = false;
  bool gone_ MUMMU_GUARDED_BY(role_) = false;
  std::thread thread_;  // of start_thread and shut_down
};

}  // namespace mummu
