// qwen2_sampled_streaming_is_seeded_deterministic_and_cancellable: the tests of suite Gate, which
// CTest runs under that name.

#include "engine/test/gate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/sanitized.h"
#include "base/test_fixture.h"
#include "engine/test/drawn_qwen2.h"
#include "engine/test/random.h"
#include "file/test_writer.h"
#include "mummu/generate.h"

namespace mummu::test {
namespace {

constexpr size_t kStopAfter = 8;

Request poet(const Model& model, int64_t max_tokens) {
  return *chat(model,
               {{"system", "You are a poet.", {}}, {"user", "Write one line about the sea.", {}}},
               {.max_tokens = max_tokens, .temperature = 0.7F, .top_p = 0.9F, .seed = 42});
}

// Other requests: other prompts of other lengths, other ways of sampling, one like ours.
std::vector<Request> neighbours(const Model& model, Random& random) {
  std::vector<Request> all;
  const auto ask = [&](const char* text, RequestOptions options) {
    options.max_tokens = random.between(12, 24);
    options.ignore_eos = true;
    all.push_back(*chat(model, {{"user", text, {}}}, std::move(options)));
  };
  ask("Why is the sea salty?", {});
  ask("Count.", {.temperature = 1.5F, .seed = 7});
  ask("Name five rivers and the countries that they cross, in alphabetical order.",
      {.temperature = 0.9F, .top_k = 40, .seed = static_cast<uint64_t>(random.below(100))});
  Request twin = poet(model, 20);
  twin.options.seed = 43;
  all.push_back(twin);
  for (size_t i = all.size(); i > 1; --i)
    std::swap(all[i - 1], all[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
  return all;
}

// What is asked of every run.
void check(const Driven& driven, Finish finish) {
  EXPECT_EQ(driven.done.ids, driven.streamed);
  EXPECT_EQ(driven.done.text, driven.text);
  EXPECT_FALSE(driven.text.empty());
  EXPECT_EQ(driven.done.finish, finish);
  EXPECT_EQ(driven.streamed.size(), kStopAfter);
}

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

Result<Driven> by_callback(const Model& model, const EngineOptions& options,
                           std::vector<Request> others, Request request, size_t stop_after) {
  Engine engine(model, options);
  MUMMU_TRY(auto ids, admit_all(engine, std::move(others)));
  Company company(engine, std::move(ids));
  Driven driven;
  const auto on_token = [&](const Token& token) {
    driven.text += token.text;
    const bool first = driven.streamed.empty();
    driven.streamed.insert(driven.streamed.end(), token.ids.begin(), token.ids.end());
    company.look(!first);
    return stop_after > 0 && driven.streamed.size() >= stop_after ? Flow::stop : Flow::go_on;
  };
  MUMMU_TRY(driven.done, generate(engine, std::move(request), on_token));
  driven.company = company.most();
  return driven;
}

Result<Driven> by_pull(const Model& model, const EngineOptions& options,
                       std::vector<Request> others, Request request, size_t stop_after) {
  Engine engine(model, options);
  MUMMU_TRY(auto ids, admit_all(engine, std::move(others)));
  Company company(engine, std::move(ids));
  Driven driven;
  Generation generation(engine, std::move(request));
  while (const Token* token = generation.next()) {
    driven.text += token->text;
    const bool first = driven.streamed.empty();
    driven.streamed.insert(driven.streamed.end(), token->ids.begin(), token->ids.end());
    company.look(!first);
    if (stop_after > 0 && driven.streamed.size() == stop_after) generation.cancel();
  }
  MUMMU_TRY(driven.done, generation.result());
  driven.company = company.most();
  return driven;
}

}  // namespace

void pass_gate(const Model& model, const Drive& drive, int64_t rounds) {
  std::vector<TokenId> expected;
  uint64_t hash = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const bool crowded = round % 2 == 1;
    Random random(static_cast<uint64_t>(round));
    const auto run = [&](int64_t max_tokens, size_t stop_after) {
      return drive(model, {.context = 256, .kv_tokens = 1536},
                   crowded ? neighbours(model, random) : std::vector<Request>(),
                   poet(model, max_tokens), stop_after);
    };
    const auto cancelled = run(64, kStopAfter);
    ASSERT_TRUE(cancelled) << cancelled.error().message;
    check(*cancelled, Finish::cancelled);
    const auto whole = run(kStopAfter, 0);
    ASSERT_TRUE(whole) << whole.error().message;
    check(*whole, Finish::length);
    if (crowded) {
      EXPECT_EQ(cancelled->company, 5) << "there was a crowd";
    }
    if (crowded) {
      EXPECT_EQ(whole->company, 5) << "there was a crowd";
    }
    if (round == 0) expected = whole->streamed;
    if (round == 0) hash = whole->done.logits_hash;
    EXPECT_EQ(whole->streamed, expected);
    EXPECT_EQ(cancelled->streamed, expected);
    EXPECT_EQ(whole->done.logits_hash, hash);
    if (testing::Test::HasFailure()) return;
  }
}

void pass_gate_on_drawn_qwen2(const Drive& drive) {
  const std::string vocabulary = fixture("vocab/ggml-vocab-qwen2.gguf");
  MUMMU_NEEDS(vocabulary);
  const TempFolder folder;
  const auto device = open_device("cpu", {.parallel = Threads(2)});
  const auto model = Model::load(folder.write("drawn.gguf", drawn_qwen2(vocabulary)), *device);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->info().vocab, 151936);
  pass_gate(*model, drive, kSanitized ? 10 : 200);
}

namespace {

TEST(Gate, a_small_qwen2_driven_by_callbacks) { pass_gate_on_drawn_qwen2(by_callback); }

TEST(Gate, a_small_qwen2_that_is_pulled) { pass_gate_on_drawn_qwen2(by_pull); }

TEST(Gate, the_real_qwen2_5) {
  const char* folder = std::getenv("MUMMU_QWEN2_5");
  if (!folder)
    GTEST_SKIP() << "skipped: MUMMU_QWEN2_5 names no folder with a Qwen2.5-Instruct checkpoint";
  const auto device = open_device("cpu", {.parallel = Threads(2)});
  const auto model = Model::load(folder, *device);
  ASSERT_TRUE(model) << model.error().message;
  pass_gate(*model, by_callback, 4);
}

}  // namespace
}  // namespace mummu::test
