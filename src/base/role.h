#pragma once

// Words that clang's -Wthread-safety understands: who may touch what. Data is MUMMU_GUARDED_BY a
// lock or a Role, a function MUMMU_REQUIRES one. A Role is held by convention, not by a lock: the
// one thread that uses an engine, or drives a worker, has it. Other compilers see nothing of this.

#if defined(__clang__)
#define MUMMU_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define MUMMU_THREAD_SAFETY(attribute)
#endif
#define MUMMU_CAPABILITY(name) MUMMU_THREAD_SAFETY(capability(name))
#define MUMMU_SCOPED MUMMU_THREAD_SAFETY(scoped_lockable)
#define MUMMU_GUARDED_BY(mutex) MUMMU_THREAD_SAFETY(guarded_by(mutex))
#define MUMMU_REQUIRES(...) MUMMU_THREAD_SAFETY(requires_capability(__VA_ARGS__))
#define MUMMU_ACQUIRE(...) MUMMU_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define MUMMU_RELEASE(...) MUMMU_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define MUMMU_EXCLUDES(...) MUMMU_THREAD_SAFETY(locks_excluded(__VA_ARGS__))
#define MUMMU_ASSUMES(...) MUMMU_THREAD_SAFETY(assert_capability(__VA_ARGS__))

namespace mummu {

class MUMMU_CAPABILITY("role") Role {
 public:
  // Tells the compiler what the caller knows: this thread has the role.
  void assume() const MUMMU_ASSUMES(this) {}
};

}  // namespace mummu
