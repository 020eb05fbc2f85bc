// What clang must not compile, one case for each number, as in thread_facts_refused.cpp: touching
// what belongs to a lock or a role without having it. Case 0 is the control.

#include "async/driver.h"
#include "engine/engine_impl.h"

namespace mummu {

bool look(Engine::Impl& engine) {
#if REFUSED != 1
  engine.role.assume();
#endif
  return engine.has_work();
}

class Kept : public Channel {
 public:
  bool over() {
#if REFUSED != 2
    const Lock lock(mutex_);
#endif
    return is_closed();
  }
};

class Driven : public Driver {
 public:
  bool over() {
#if REFUSED != 3
    role_.assume();
#endif
    return gone();
  }
  int64_t streams() {
#if REFUSED != 4
    const Lock lock(mutex_);
#endif
    return open();
  }
};

}  // namespace mummu
