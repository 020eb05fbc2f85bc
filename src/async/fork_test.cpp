// A forked child: every call is refused before it takes a lock, and destructors do nothing.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "async/test/fake_worker.h"
#include "async/test/number_channel.h"
#include "base/sanitized.h"
#include "mummu/load.h"
#include "mummu/slot.h"

namespace mummu::test {
namespace {

using Kind = FakeWorker::Kind;

// Runs the function in a child, which is killed if it hangs; whether it said yes.
template <typename F>
bool in_child(F function) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(function() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Fork, every_call_in_a_child_is_invalid_whatever_the_parent_s_threads_do) {
  FakeWorker started(Kind::started, {}, {.max_events = 4});
  Stream stream = started.submit(ask(400));
  std::atomic<bool> over = false;
  std::jthread reader([&] {
    while (!over) (void)stream.try_next();
  });
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(in_child([&] {
      const bool reading = stream.try_next().why() == Pull::invalid &&
                           stream.next().why() == Pull::invalid && !stream.done() &&
                           !stream.on_ready([] {}) && !stream.disarm({}) && !stream.result();
      stream.cancel();
      stream.canceller()();
      started.worker.stop();
      const bool driving = started.worker.submit(ask(1)).error().code == Error::invalid &&
                           started.worker.drain().error().code == Error::invalid &&
                           !started.worker.run_once() && !started.worker.run() &&
                           !started.worker.status() && started.worker.counts().steps == 0;
      const auto wait = [](Stream& from) -> Task<Pull> {
        co_return (co_await from.next(resume_inline)).why();
      };
      const bool awaiting = *sync_wait(wait(stream)) == Pull::invalid;
      return reading && driving && awaiting;
    }));
  }
  over = true;
}

TEST(Fork, destructors_in_a_child_do_nothing) {
  auto* started = new FakeWorker(Kind::started);
  auto* stream = new Stream(started->submit(ask(400)));
  auto* loader = new Loader(*Loader::start("/no/such/model.gguf", cpu()));
  EXPECT_TRUE(in_child([&] {
    delete stream;
    delete loader;
    started->worker = Worker(cpu());
    return true;
  }));
  EXPECT_TRUE(stream->next());
  delete stream;
  delete loader;
  delete started;
}

TEST(Fork, a_slot_belongs_to_its_parent) {
  ModelSlot<std::string> slot;
  const auto load = []() -> Result<std::string> { return std::string("a"); };
  ASSERT_TRUE(slot.acquire("a", load));
  EXPECT_TRUE(in_child([&] {
    return slot.acquire("a", load).error().code == Error::invalid && !slot.try_acquire("a") &&
           !slot.clear() && slot.loaded_key().empty();
  }));
}

// The thread sanitizer ends a child of a process with threads where it starts one itself.
TEST(Fork, a_child_may_make_its_own) {
  EXPECT_TRUE(in_child([] {
    FakeWorker own(kSanitized ? Kind::lent : Kind::started);
    Stream stream = own.submit(ask(20));
    if (kSanitized) own.run_out();
    return read_all(stream).size() == 20;
  }));
}

}  // namespace
}  // namespace mummu::test
