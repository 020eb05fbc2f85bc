#include "mummu/slot.h"

#include <vector>

#include "async/channel.h"
#include "async/driving.h"
#include "async/fork_page.h"
#include "base/edge.h"
#include "base/fail.h"

namespace mummu {
namespace {

// A channel without events: its end is the news.
class Signal final : public Channel {
 public:
  Signal() : Channel(nullptr, 1) {}

  void ring() noexcept {
    close(Error::cancelled, "");
    fire();
  }

 private:
  size_t queued() const override { return 0; }
  const void* take() override { return nullptr; }
  void clear() noexcept override {}
};

}  // namespace

struct SlotTurns::State {
  ForkPage fork_page;
  mutable Mutex mutex;
  std::string key MUMMU_GUARDED_BY(mutex);  // empty: nothing is loaded
  bool reserved MUMMU_GUARDED_BY(mutex) = false;
  int64_t users MUMMU_GUARDED_BY(mutex) = 0;
  std::vector<std::shared_ptr<Signal>> waiting MUMMU_GUARDED_BY(mutex);

  // Those who wait ask again; called after the lock.
  void ring() MUMMU_EXCLUDES(mutex) {
    std::vector<std::shared_ptr<Signal>> rung;
    {
      const Lock lock(mutex);
      rung.swap(waiting);
    }
    for (const auto& signal : rung) signal->ring();
  }
};

SlotTurns::SlotTurns() : state_(std::make_unique<State>()) {}
SlotTurns::~SlotTurns() = default;

Result<SlotTurns::Turn> SlotTurns::ask(const std::string& key, std::shared_ptr<Channel>* signal) {
  if (key.empty()) return fail(Error::invalid, "the key of a slot must not be empty");
  if (state_->fork_page.forked())
    return fail(Error::invalid, "this slot belongs to the parent process");
  return at_edge([&]() -> Result<Turn> {
    auto bell = signal ? std::make_shared<Signal>() : nullptr;
    std::string reserved_key = key;
    State& state = *state_;
    const Lock lock(state.mutex);
    if (!state.reserved && state.key == key) {
      ++state.users;
      return Turn::use;
    }
    if (!state.reserved && state.users == 0) {
      if (!signal) return Turn::wait;
      state.key.swap(reserved_key);
      state.reserved = true;
      return Turn::load;
    }
    if (signal) {
      state.waiting.push_back(bell);
      *signal = std::move(bell);
    }
    return Turn::wait;
  });
}

void SlotTurns::loaded() noexcept {
  {
    const Lock lock(state_->mutex);
    state_->reserved = false;
    state_->users = 1;
  }
  state_->ring();
}

void SlotTurns::failed() noexcept {
  {
    const Lock lock(state_->mutex);
    state_->reserved = false;
    state_->key.clear();
  }
  state_->ring();
}

void SlotTurns::leave() noexcept {
  if (state_->fork_page.forked()) return;
  {
    const Lock lock(state_->mutex);
    if (--state_->users > 0) return;
  }
  state_->ring();
}

Result<std::shared_ptr<const void>> SlotTurns::guard(std::shared_ptr<const void> slot,
                                                     const void* thing) {
  // Where the share cannot be made its deleter is called all the same.
  return at_edge([&]() -> Result<std::shared_ptr<const void>> {
    return std::shared_ptr<const void>(thing,
                                       [this, keep = std::move(slot)](const void*) { leave(); });
  });
}

bool SlotTurns::reserve_to_clear() noexcept {
  if (state_->fork_page.forked()) return false;
  const Lock lock(state_->mutex);
  if (state_->reserved || state_->users > 0) return false;
  state_->reserved = true;
  return true;
}

std::string SlotTurns::loaded_key() const {
  if (state_->fork_page.forked()) return {};
  const Lock lock(state_->mutex);
  return state_->reserved ? std::string() : state_->key;
}

Result<void> SlotTurns::wait(const std::shared_ptr<Channel>& signal) {
  if (signal->next_until(SteadyTime::max()).why != Pull::invalid) return {};
  return fail(Error::invalid, "this thread drives a worker and may not wait for a slot");
}

}  // namespace mummu
