// What must not compile, one case for each number; CTest compiles each and expects the reason that
// stands beside it in CMakeLists.txt. Case 0 is the control: it must compile.

#include <functional>
#include <memory>
#include <string>

#include "mummu/slot.h"
#include "mummu/task.h"
#include "mummu/thread_facts.h"
#include "mummu/worker.h"

namespace mummu {

// A copy of Model's Impl as it might become.
struct CopiedImpl {
  using thread_members = ThreadMembers<std::string, std::vector<int>
#if REFUSED == 1
                                       ,
                                       std::function<void()>
#endif
                                       >;
};

struct Unknown {
  int* shared;
};

struct OneAtATime {};
template <>
struct ThreadFacts<OneAtATime> : MovableOnly {};

static_assert(thread_movable<CopiedImpl> && thread_shareable<CopiedImpl>,
              "CopiedImpl has a member that may not cross threads");

#if REFUSED == 2
Task<Unknown> task() { co_return Unknown{}; }
#elif REFUSED == 3
ModelSlot<OneAtATime> slot;
#elif REFUSED == 4
Task<int> inner() { co_return 1; }
Task<int> outer() {
  auto task = inner();
  co_return co_await task;
}
#elif REFUSED == 5
void arm() {
  struct Large {
    char bytes[200];
    void operator()() {}
  };
  Callback<void()> callback{Large{}};
}
#elif REFUSED == 6
void unused(Result<int> (*f)()) { f(); }
#elif REFUSED == 7
EventStream<Unknown> stream;
#elif REFUSED == 8
Stream copy(const Stream& stream) { return stream; }
#elif REFUSED == 9
void share(Resume& resume) { resume_inline(resume); }
#elif REFUSED == 10
static_assert(thread_shareable<Engine>, "Engine is not shareable");
#elif REFUSED == 11
Task<Result<Engine*> > lend(Engine& engine) { co_return &engine; }
#elif REFUSED == 12
ModelSlot<Engine> slot;
#elif REFUSED == 13
Task<void> read(Stream& stream) {
  while (co_await stream.next(resume_inline)) continue;
}
#elif REFUSED == 14
Task<int> read(Stream& stream) {
  while (const Token* token = co_await stream.next(resume_inline))
    if (!token->ids.empty()) co_return 1;
  const auto next = co_await stream.next(resume_inline);
  if (next || next.why() == Pull::end) co_return 2;
  co_return 3;
}
#else
Task<int> inner() { co_return 1; }
Task<int> outer() { co_return co_await inner(); }
ModelSlot<std::string> slot;
#endif

}  // namespace mummu
