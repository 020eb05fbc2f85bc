// qwen2_sampled_streaming_is_seeded_deterministic_and_cancellable: the tests of suite Gate, which
// CTest runs under that name. Streams and coroutines pass it in src/async.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/sanitized.h"
#include "engine/test/gate.h"
#include "mummu/generate.h"

namespace mummu::test {
namespace {

constexpr int64_t kRounds = kSanitized ? 10 : 200;

// Counts which neighbours have said something since the last look, and forgets what they said.
class Company {
 public:
  Company(Engine& engine, std::vector<RequestId> ids) : engine_(engine), ids_(std::move(ids)) {}

  void look(bool counts) {
    int64_t advanced = 1;
    for (RequestId id : ids_) {
      bool said = false;
      while (engine_.take(id)) said = true;
      advanced += said;
    }
    if (counts) most_ = std::max(most_, advanced);
  }
  int64_t most() const { return most_; }

 private:
  Engine& engine_;
  std::vector<RequestId> ids_;
  int64_t most_ = 0;
};

Result<std::vector<RequestId>> admit_all(Engine& engine, std::vector<Request> requests) {
  std::vector<RequestId> ids;
  for (Request& request : requests) {
    MUMMU_TRY(const RequestId id, engine.admit(std::move(request)));
    ids.push_back(id);
  }
  return ids;
}

Result<Driven> by_callback(Driving driving) {
  Engine engine(driving.model, driving.options);
  MUMMU_TRY(auto ids, admit_all(engine, std::move(driving.neighbours)));
  Company company(engine, std::move(ids));
  Driven driven;
  const auto on_token = [&](const Token& token) {
    driven.text += token.text;
    const bool first = driven.streamed.empty();
    driven.streamed.insert(driven.streamed.end(), token.ids.begin(), token.ids.end());
    company.look(!first);
    const bool stops = driving.stop_after > 0 && driven.streamed.size() >= driving.stop_after;
    return stops ? Flow::stop : Flow::go_on;
  };
  MUMMU_TRY(driven.done, generate(engine, std::move(driving.request), on_token));
  driven.company = company.most();
  return driven;
}

Result<Driven> by_pull(Driving driving) {
  Engine engine(driving.model, driving.options);
  MUMMU_TRY(auto ids, admit_all(engine, std::move(driving.neighbours)));
  Company company(engine, std::move(ids));
  Driven driven;
  Generation generation(engine, std::move(driving.request));
  while (const Token* token = generation.next()) {
    driven.text += token->text;
    const bool first = driven.streamed.empty();
    driven.streamed.insert(driven.streamed.end(), token->ids.begin(), token->ids.end());
    company.look(!first);
    if (driving.stop_after > 0 && driven.streamed.size() == driving.stop_after) generation.cancel();
  }
  MUMMU_TRY(driven.done, generation.result());
  driven.company = company.most();
  return driven;
}

TEST(Gate, a_small_qwen2_driven_by_callbacks) { pass_gate_on_drawn_qwen2(by_callback, kRounds); }

TEST(Gate, a_small_qwen2_that_is_pulled) { pass_gate_on_drawn_qwen2(by_pull, kRounds); }

TEST(Gate, the_real_qwen2_5) {
  const char* folder = std::getenv("MUMMU_QWEN2_5");
  if (!folder)
    GTEST_SKIP() << "skipped: MUMMU_QWEN2_5 names no folder with a Qwen2.5-Instruct checkpoint";
  auto device = open_device("cpu", {.parallel = Threads(2)});
  auto first = Model::load(folder, *device), second = Model::load(folder, *device);
  ASSERT_TRUE(first && second) << first.error().message;
  pass_gate({*std::move(device), *std::move(first), *std::move(second)}, by_callback, 4);
}

}  // namespace
}  // namespace mummu::test
