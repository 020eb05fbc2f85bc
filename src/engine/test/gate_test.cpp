#include "engine/test/gate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/test_fixture.h"
#include "engine/test/drawn_qwen2.h"
#include "engine/test/random.h"
#include "file/test_writer.h"

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

}  // namespace

void pass_gate(const GateModels& models, const Drive& drive, int64_t rounds) {
  std::vector<TokenId> expected;
  uint64_t hash = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const bool crowded = round % 2 == 1;
    Random random(static_cast<uint64_t>(round));
    const auto run = [&](int64_t max_tokens, size_t stop_after) {
      return drive(
          {.device = models.device,
           .model = models.first,
           .second = models.second,
           .options = {.context = 256, .kv_tokens = 1536, .step_tokens = 256},
           .before = {},
           .neighbours = crowded ? neighbours(models.first, random) : std::vector<Request>(),
           .request = poet(models.first, max_tokens),
           .stop_after = stop_after});
    };
    const auto cancelled = run(64, kStopAfter);
    ASSERT_TRUE(cancelled) << cancelled.error().message;
    check(*cancelled, Finish::cancelled);
    const auto whole = run(kStopAfter, 0);
    ASSERT_TRUE(whole) << whole.error().message;
    check(*whole, Finish::length);
    for (const Driven* driven : {&*cancelled, &*whole}) {
      EXPECT_EQ(driven->company, crowded ? 5 : 1) << "there was a crowd";
    }
    if (round == 0) expected = whole->streamed;
    if (round == 0) hash = whole->done.logits_hash;
    EXPECT_EQ(whole->streamed, expected);
    EXPECT_EQ(cancelled->streamed, expected);
    EXPECT_EQ(whole->done.logits_hash, hash);
    if (testing::Test::HasFailure()) return;
  }
}

void pass_gate_on_drawn_qwen2(const Drive& drive, int64_t rounds) {
  const std::string vocabulary = fixture("vocab/ggml-vocab-qwen2.gguf");
  MUMMU_NEEDS(vocabulary);
  const TempFolder folder;
  const std::string path = folder.write("drawn.gguf", drawn_qwen2(vocabulary));
  auto device = open_device("cpu", {.parallel = Threads(2)});
  auto first = Model::load(path, *device), second = Model::load(path, *device);
  ASSERT_TRUE(first && second) << first.error().message;
  EXPECT_EQ(first->info().vocab, 151936);
  pass_gate({*std::move(device), *std::move(first), *std::move(second)}, drive, rounds);
}

}  // namespace mummu::test
