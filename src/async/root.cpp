// The chain of frames that belong together: run as a loop, ended once, destroyed by whoever ends
// it.

#include "async/mutex.h"
#include "mummu/resume.h"

namespace mummu {
namespace {

// A chain is over when it has ended (or was abandoned) and no thread is inside run: only then may
// its frames be destroyed.
class RootState final : public Root {
 public:
  explicit RootState(std::stop_token stop) : Root(std::move(stop)) {}
  ~RootState() = default;

  Mutex mutex;
  Condition over_changed;
  int running MUMMU_GUARDED_BY(mutex) = 0;  // threads inside run
  bool ended MUMMU_GUARDED_BY(mutex) = false;
  End end MUMMU_GUARDED_BY(mutex) = End::abandoned;
  std::coroutine_handle<> frame MUMMU_GUARDED_BY(mutex);
  Callback<void(End)> on_over MUMMU_GUARDED_BY(mutex);

  bool over() const MUMMU_REQUIRES(mutex) { return ended && running == 0; }

  void add_runner(int count) noexcept MUMMU_EXCLUDES(mutex) {
    {
      const Lock lock(mutex);
      running += count;
    }
    if (count < 0) settle();
  }

  void set_end(End how) noexcept MUMMU_EXCLUDES(mutex) {
    {
      const Lock lock(mutex);
      if (ended) return;
      ended = true;
      end = how;
    }
    settle();
  }

  // What it throws has nobody to tell.
  static void tell(Callback<void(End)>& told, End how) noexcept {
    try {
      if (told) told(how);
    } catch (...) {
    }
  }

  // Tells those who wait; destroys the frame and calls on_over, once.
  void settle() noexcept MUMMU_EXCLUDES(mutex) {
    std::coroutine_handle<> dead;
    Callback<void(End)> told;
    End how = End::abandoned;
    {
      const Lock lock(mutex);
      if (!over()) return;
      over_changed.notify_all();
      dead = std::exchange(frame, {});
      told = std::move(on_over);
      how = end;
    }
    if (dead) dead.destroy();
    tell(told, how);
  }
};

RootState& state(Root& root) { return static_cast<RootState&>(root); }

}  // namespace

std::shared_ptr<Root> Root::make(std::stop_token stop) noexcept {
  try {
    return std::make_shared<RootState>(std::move(stop));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void Root::run(std::shared_ptr<Root> root, std::coroutine_handle<> first) noexcept {
  state(*root).add_runner(1);
  std::coroutine_handle<> next = first;
  root->next_ = &next;
  while (next) std::exchange(next, {}).resume();
  state(*root).add_runner(-1);
}

void Root::finish(bool with_value) noexcept {
  state(*this).set_end(with_value ? End::finished : End::failed);
}

void Root::abandon() noexcept { state(*this).set_end(End::abandoned); }

void Root::when_over(std::coroutine_handle<> frame, Callback<void(End)> over) {
  RootState& self = state(*this);
  const Lock lock(self.mutex);
  self.frame = frame;
  self.on_over = std::move(over);
}

Root::End Root::wait() {
  RootState& self = state(*this);
  const Lock lock(self.mutex);
  while (!self.over()) self.over_changed.wait(self.mutex);
  return self.end;
}

}  // namespace mummu
