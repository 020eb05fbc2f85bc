#pragma once

// For tests: a Worker over an engine with a fake model, lent or with its own thread, and what its
// streams must say.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "engine/fake_engine.h"
#include "mummu/worker.h"

namespace mummu::test {

using std::chrono::milliseconds;

inline Device& cpu() {
  static Device device = *open_device("cpu");
  return device;
}

struct FakeWorker {
  enum class Kind { lent, started };

  explicit FakeWorker(Kind kind = Kind::lent, FakeOptions options = {},
                      WorkerOptions worker_options = {})
      : worker(kind == Kind::started ? *Worker::start(cpu(), worker_options)
                                     : Worker(cpu(), worker_options)) {
    FakeEngine fake(std::move(options));
    forward = fake.forward;
    const auto added = worker.add(std::move(fake.engine));
    EXPECT_TRUE(added);
  }

  Stream submit(Request request) {
    auto stream = worker.submit(std::move(request));
    EXPECT_TRUE(stream) << stream.error().message;
    return stream ? *std::move(stream) : Stream();
  }
  // Drives until there is nothing to do.
  void run_out() {
    while (true) {
      const auto turn = worker.run_once();
      if (!turn || *turn == Turn::idle) return;
    }
  }
  void turns(int count) {
    for (int i = 0; i < count; ++i) (void)worker.run_once();
  }

  FakeForward* forward = nullptr;  // inside the engine
  Worker worker;
};

inline Request ask(int64_t max_tokens, TokenId first = 1, int64_t prompt = 5) {
  std::vector<TokenId> ids(static_cast<size_t>(prompt));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<TokenId>((static_cast<size_t>(first) + 7 * i) % 64);
  return fake_request(std::move(ids), {.max_tokens = max_tokens});
}

inline std::vector<TokenId> answer_to(const Request& request, int choice = 0) {
  return expected_ids(request, 64, 512, choice);
}

// The ids of all that is there now.
inline std::vector<TokenId> read_now(Stream& stream) {
  std::vector<TokenId> ids;
  while (const Token* token = stream.try_next())
    ids.insert(ids.end(), token->ids.begin(), token->ids.end());
  return ids;
}

inline std::vector<TokenId> read_all(Stream& stream) {
  std::vector<TokenId> ids;
  for (const Token& token : stream) ids.insert(ids.end(), token.ids.begin(), token.ids.end());
  return ids;
}

// Waits for something that another thread does; the test's own time limit is the watchdog.
template <typename Condition>
void wait_for(Condition condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

}  // namespace mummu::test
