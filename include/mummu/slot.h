#pragma once

// ModelSlot<T>: one loaded thing, replaced by key: a model for who has room for one. Any thread. A
// load runs outside the lock with the key reserved, once however many ask for it; what was loaded
// before is dropped first. A Guard keeps the thing in use: while one lives nothing replaces it. Who
// holds a Guard of one key and acquires another of the same slot waits for itself.

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "mummu/await.h"
#include "mummu/export.h"
#include "mummu/result.h"
#include "mummu/task.h"
#include "mummu/thread_facts.h"

namespace mummu {

// Whose turn it is at a slot, whatever lies in it.
class MUMMU_API SlotTurns {
 public:
  enum class Turn {
    use,   // the key is loaded: one more user, until leave()
    load,  // the key is reserved for the caller, until loaded() or failed()
    wait,  // others use another key, or load
  };

  SlotTurns();
  ~SlotTurns();
  SlotTurns(const SlotTurns&) = delete;
  SlotTurns& operator=(const SlotTurns&) = delete;

  // With `signal`, wait leaves a channel there that ends when it is time to ask again; without, the
  // answer is never to load.
  //   errors   invalid (an empty key; a forked child), no_memory
  Result<Turn> ask(const std::string& key, std::shared_ptr<Channel>* signal);
  void loaded() noexcept;  // the caller has become its first user
  void failed() noexcept;  // the slot is empty
  void leave() noexcept;
  // For one who uses `thing`: a share that leaves when its last copy goes. It keeps `slot`, which
  // has these turns.
  //   errors   no_memory; it has left then
  Result<std::shared_ptr<const void>> guard(std::shared_ptr<const void> slot, const void* thing);
  // Reserves the slot to empty it; false while it is used, loaded or waited for in that state.
  bool reserve_to_clear() noexcept;
  std::string loaded_key() const;

  // Blocks until the channel of a wait ends.
  //   errors   invalid (this thread drives a Worker or Loader)
  static Result<void> wait(const std::shared_ptr<Channel>& signal);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

template <typename T>
class ModelSlot {
 public:
  static_assert(thread_movable<T>,
                "ModelSlot<T> is used from many threads: T is not thread_movable");
  static_assert(thread_shareable<T>,
                "ModelSlot<T> is used from many threads: T is not thread_shareable");

  // The slot's thing, in use while a copy of the Guard lives. It may outlive the slot.
  using Guard = std::shared_ptr<const T>;

  //   throws   std::bad_alloc
  ModelSlot() : shared_(std::make_shared<Shared>()) {}

  // Blocks until `key` is loaded, by load() -> Result<T> on this thread if nobody else does.
  //   errors   invalid (an empty key; this thread drives a Worker or Loader), those of load
  template <typename Load>
  Result<Guard> acquire(const std::string& key, Load&& load) {
    while (true) {
      std::shared_ptr<Channel> signal;
      MUMMU_TRY(const SlotTurns::Turn turn, shared_->turns.ask(key, &signal));
      if (turn != SlotTurns::Turn::wait) return finish(shared_, turn, load);
      MUMMU_TRY(SlotTurns::wait(signal));
    }
  }

  // The same without blocking for others: co_await slot.acquire(key, load, executor). load() runs
  // where the coroutine does.
  //   errors   cancelled too (by the chain's stop_token)
  template <typename Load, typename Where>
  Task<Result<Guard>> acquire(std::string key, Load load, Where executor) {
    return acquire_later(shared_, std::move(key), std::move(load), std::move(executor));
  }

  // Never waits and never loads: null unless `key` is loaded (and there is memory for a Guard).
  Guard try_acquire(const std::string& key) {
    const auto turn = shared_->turns.ask(key, nullptr);
    if (!turn || *turn != SlotTurns::Turn::use) return nullptr;
    auto guard = make_guard(shared_);
    return guard ? *std::move(guard) : nullptr;
  }

  // f(const T&) with the thing in use.
  template <typename Load, typename F>
  auto with(const std::string& key, Load&& load, F&& f)
      -> Result<std::invoke_result_t<F, const T&>> {
    MUMMU_TRY(const Guard guard, acquire(key, load));
    if constexpr (std::is_void_v<std::invoke_result_t<F, const T&>>) {
      f(*guard);
      return {};
    } else {
      return f(*guard);
    }
  }

  // Drops what is loaded. False when it is in use or being loaded; never waits.
  bool clear() {
    if (!shared_->turns.reserve_to_clear()) return false;
    shared_->value.reset();
    shared_->turns.failed();
    return true;
  }

  // Empty when nothing is loaded.
  std::string loaded_key() const { return shared_->turns.loaded_key(); }

 private:
  struct Shared {
    SlotTurns turns;
    std::optional<T> value;  // of who has the turn to load, or of its users
  };

  // Gives the turn back, however the load ends.
  class Loading {
   public:
    explicit Loading(SlotTurns& turns) : turns_(&turns) {}
    ~Loading() {
      if (turns_) turns_->failed();
    }
    Loading(const Loading&) = delete;
    Loading& operator=(const Loading&) = delete;
    void done() { std::exchange(turns_, nullptr)->loaded(); }

   private:
    SlotTurns* turns_;
  };

  static Result<Guard> make_guard(const std::shared_ptr<Shared>& shared) {
    const T* thing = &*shared->value;
    MUMMU_TRY(auto share, shared->turns.guard(shared, thing));
    return Guard(std::move(share), thing);
  }

  template <typename Load>
  static Result<Guard> finish(const std::shared_ptr<Shared>& shared, SlotTurns::Turn turn,
                              Load& load) {
    if (turn == SlotTurns::Turn::use) return make_guard(shared);
    Loading loading(shared->turns);
    shared->value.reset();
    MUMMU_TRY(T value, load());
    shared->value.emplace(std::move(value));
    loading.done();
    return make_guard(shared);
  }

  template <typename Load, typename Where>
  static Task<Result<Guard>> acquire_later(std::shared_ptr<Shared> shared, std::string key,
                                           Load load, Where executor) {
    while (true) {
      std::shared_ptr<Channel> signal;
      const auto turn = shared->turns.ask(key, &signal);
      if (!turn) co_return turn.error();
      if (*turn != SlotTurns::Turn::wait) co_return finish(shared, *turn, load);
      struct Nothing {};
      const auto waited = co_await NextAwait<Nothing, Where>(signal, executor);
      if (waited.why() == Pull::cancelled)
        co_return Error{Error::Code::cancelled, "the wait for a slot was stopped"};
    }
  }

  std::shared_ptr<Shared> shared_;
};

template <typename T>
struct ThreadFacts<ModelSlot<T>> : MovableAndShareable {};

}  // namespace mummu
