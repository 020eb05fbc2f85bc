#pragma once

// The shared block of one stream: between the one who reads it and the one who drives it. Held by
// the stream's handle, by the driver, by mail under way and by a Resume. A stream has one reader's
// place, taken by a blocked next, an armed on_ready, or an await until it has returned; while it is
// taken every other reading call is `invalid`.
//
//   state    open -> closed(why), once: the first of {last event, cancel, the handle's death, the
//            driver's end, an error} wins, and later events are discarded. Closed is always ready.
//   place    free -> reading -> free; free -> armed -> calling -> free | armed;
//            free -> awaiting -> posted -> claimed -> free
//   promise  whoever is suspended or blocked here has a live driver that owes it a wake-up
//
// Derived classes keep the events. Any thread, except what says "driver". Whoever calls holds a
// share of it: what is called back may drop all others.

#include <memory>
#include <optional>
#include <thread>

#include "async/mutex.h"
#include "mummu/await.h"
#include "mummu/pull.h"
#include "mummu/result.h"

namespace mummu {

class Driver;

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  // Readers get woken in a chain: the driver wakes the first of a step, each wakes the next.
  class WakeChain {
   public:
    WakeChain() = default;
    ~WakeChain();
    WakeChain(const WakeChain&) = delete;
    WakeChain& operator=(const WakeChain&) = delete;

   private:
    friend class Channel;
    std::shared_ptr<Channel> first_;
  };

  // Without a driver nobody has to be told of anything.
  Channel(std::shared_ptr<Driver> driver, size_t bound);
  virtual ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Whether this is a forked child: to be asked before anything else.
  bool forked() const;

  // Reading
  Pulled try_next();
  Pulled next_until(SteadyTime until);
  // Takes the function over and gives Pull::event, or leaves it alone. The ticket is written before
  // the function can be called.
  Pull on_ready(Callback<void()>& function, uint64_t& ticket);
  // Whether the function of that ticket was still armed; it has been destroyed un-run then.
  bool disarm(uint64_t ticket);
  // Whether the last event has been read.
  bool done();

  // Ending
  // The reader sees what is there, then the end. Calls and allocates nothing.
  void cancel() noexcept;
  // The handle is gone: after this nothing of the user's runs, but the resumption of an await.
  void detach() noexcept;
  // Ends it for a reason. False: it had ended already.
  bool close(Error::Code why, const char* message) noexcept;

  // Driver: calls the armed function, or the executor, while the stream is ready.
  void fire() noexcept;
  bool closed();
  // Driver: takes off the pause that a full stream asked for.
  void lift_pause();
  bool paused();

  // For Await and Resume.
  bool await_ready(bool& refused);
  bool place_await(uint64_t& generation);
  bool arm_await(std::coroutine_handle<> frame, std::shared_ptr<Root> root, Executor& executor);
  Pulled finish_await(bool placed);
  void leave_await(uint64_t generation) noexcept;
  void stop_await(uint64_t generation) noexcept;
  std::coroutine_handle<> claim(uint64_t generation, std::shared_ptr<Root>& root) noexcept;
  void drop_await(uint64_t generation) noexcept;

 protected:
  // The events. Each is called with the lock held.
  virtual size_t queued() const MUMMU_REQUIRES(mutex_) = 0;  // with those that closing adds
  virtual const void* take() MUMMU_REQUIRES(mutex_) = 0;     // lives until the next take
  virtual void clear() noexcept MUMMU_REQUIRES(mutex_) = 0;
  // Called after a close that did not come from the driver, without the lock.
  virtual void interrupt() noexcept {}

  bool is_closed() const MUMMU_REQUIRES(mutex_) { return closed_; }
  Error::Code why() const MUMMU_REQUIRES(mutex_) { return why_; }
  const char* message() const MUMMU_REQUIRES(mutex_) { return message_; }
  void close_locked(Error::Code why, const char* message) MUMMU_REQUIRES(mutex_);
  // After an event was queued: wakes or calls whoever waits. May unlock meanwhile.
  void tell(WakeChain& chain) MUMMU_REQUIRES(mutex_);
  // Whether the sequence must pause now; remembers that it was asked to.
  bool pause_if_full() MUMMU_REQUIRES(mutex_);

  Mutex mutex_;

 private:
  friend class Driver;
  enum class Armed { nothing, function, executor };

  bool ready() const MUMMU_REQUIRES(mutex_) { return queued() > 0 || closed_; }
  bool taken() const MUMMU_REQUIRES(mutex_) { return reading_ || awaiting_ || bool(function_); }
  Armed armed() const MUMMU_REQUIRES(mutex_);
  bool may_fire() const MUMMU_REQUIRES(mutex_);
  Pulled take_next(bool& mail) MUMMU_REQUIRES(mutex_);
  void fire_locked() noexcept MUMMU_REQUIRES(mutex_);
  void fire_function() noexcept MUMMU_REQUIRES(mutex_);
  void fire_executor() noexcept MUMMU_REQUIRES(mutex_);
  void post() noexcept MUMMU_EXCLUDES(mutex_);

  const std::shared_ptr<Driver> driver_;
  const size_t bound_;

  Condition changed_;
  bool closed_ MUMMU_GUARDED_BY(mutex_) = false;
  Error::Code why_ MUMMU_GUARDED_BY(mutex_) = Error::cancelled;
  const char* message_ MUMMU_GUARDED_BY(mutex_) = "";
  bool detached_ MUMMU_GUARDED_BY(mutex_) = false;
  bool paused_ MUMMU_GUARDED_BY(mutex_) = false;

  // the reader's place
  bool reading_ MUMMU_GUARDED_BY(mutex_) = false;
  Callback<void()> function_ MUMMU_GUARDED_BY(mutex_);
  Executor executor_ MUMMU_GUARDED_BY(mutex_);
  uint64_t generation_ MUMMU_GUARDED_BY(mutex_) = 0;
  std::thread::id calling_ MUMMU_GUARDED_BY(mutex_);  // inside the function or the executor
  bool calling_function_ MUMMU_GUARDED_BY(mutex_) = false;
  bool awaiting_ MUMMU_GUARDED_BY(mutex_) = false;
  bool await_stopped_ MUMMU_GUARDED_BY(mutex_) = false;
  std::coroutine_handle<> frame_ MUMMU_GUARDED_BY(mutex_);
  std::shared_ptr<Root> root_ MUMMU_GUARDED_BY(mutex_);

  bool woken_ MUMMU_GUARDED_BY(mutex_) = false;  // by a chain, and not yet up
  std::shared_ptr<Channel> wake_next_ MUMMU_GUARDED_BY(mutex_);

  // Guarded by the driver's lock: the list of mail.
  std::shared_ptr<Channel> next_mail_;
  bool mailed_ = false;
};

}  // namespace mummu
