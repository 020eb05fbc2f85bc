// The default model through the public front door: the same request gives the same bits on every
// instruction set and number of threads, in every float mode of the host, alone or in company, and
// with both compilers (golden/smollm2/run.txt).

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/count_allocations.h"
#include "base/test_fixture.h"
#include "mummu/generate.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace mummu::test {
namespace {

struct Loaded {
  Device device;
  Model model;
};

Result<Loaded> load(Isa isa, int threads) {
  MUMMU_TRY(Device device, open_device("cpu", {.parallel = Threads(threads), .isa = isa}));
  MUMMU_TRY(Model model, Model::load(fixture("SmolLM2-135M-Instruct.Q4_1.gguf"), device));
  return Loaded{std::move(device), std::move(model)};
}

Request sea(const Model& model, int64_t max_tokens) {
  return *complete(model, "Once upon a time, by the sea,",
                   {.max_tokens = max_tokens, .temperature = 0.7f, .top_p = 0.9f, .seed = 42});
}

struct Answer {
  std::vector<TokenId> ids;
  std::string text;
  uint64_t hash = 0;
};

Result<Answer> answer(const Model& model, Request request) {
  Engine engine(model, {.context = 512});
  MUMMU_TRY(Completion done, generate(engine, std::move(request)));
  return Answer{done.ids, done.text, done.logits_hash};
}

// The committed answer: its logits hash, then its ids.
Answer committed(int64_t tokens) {
  std::ifstream file(golden("smollm2/run.txt"));
  Answer out;
  file >> std::hex >> out.hash >> std::dec;
  for (TokenId id = 0; file >> id;) out.ids.push_back(id);
  EXPECT_EQ(static_cast<int64_t>(out.ids.size()), tokens);
  return out;
}

constexpr int64_t kTokens = 12;

class RealModel : public testing::TestWithParam<std::pair<Isa, int>> {};

TEST_P(RealModel, gives_the_committed_answer) {
  MUMMU_NEEDS(fixture("SmolLM2-135M-Instruct.Q4_1.gguf"));
  auto loaded = load(GetParam().first, GetParam().second);
  if (!loaded && loaded.error().code == Error::unsupported)
    GTEST_SKIP() << "skipped: " << loaded.error().message;
  ASSERT_TRUE(loaded) << loaded.error().message;
  auto got = answer(loaded->model, sea(loaded->model, kTokens));
  ASSERT_TRUE(got) << got.error().message;
  const Answer expected = committed(kTokens);
  EXPECT_EQ(got->ids, expected.ids);
  EXPECT_EQ(got->hash, expected.hash) << std::hex << got->hash;
  EXPECT_FALSE(got->text.empty());
}

INSTANTIATE_TEST_SUITE_P(EveryIsaAndThreads, RealModel,
                         testing::Values(std::pair{Isa::avx512, 1}, std::pair{Isa::avx512, 2},
                                         std::pair{Isa::avx512, 3}, std::pair{Isa::avx2, 1},
                                         std::pair{Isa::avx2, 2}, std::pair{Isa::avx2, 3},
                                         std::pair{Isa::reference, 2}));

#if defined(__x86_64__)
TEST(RealModelHost, a_host_that_flushes_denormals_and_rounds_down_gets_the_committed_answer) {
  MUMMU_NEEDS(fixture("SmolLM2-135M-Instruct.Q4_1.gguf"));
  auto loaded = load(Isa::automatic, 2);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const unsigned before = _mm_getcsr();
  constexpr unsigned kFlush = 0x8040, kRoundDown = 0x2000;
  _mm_setcsr(before | kFlush | kRoundDown);
  auto got = answer(loaded->model, sea(loaded->model, kTokens));
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->hash, committed(kTokens).hash);
  EXPECT_EQ(after & (kFlush | kRoundDown), kFlush | kRoundDown) << "the host's mode came back";
}
#endif

TEST(RealModelCrowd, neighbours_do_not_change_the_answer) {
  MUMMU_NEEDS(fixture("SmolLM2-135M-Instruct.Q4_1.gguf"));
  auto loaded = load(Isa::automatic, 2);
  ASSERT_TRUE(loaded) << loaded.error().message;
  Engine engine(loaded->model, {.context = 512, .kv_tokens = 4096});
  for (int i = 0; i < 5; ++i) {
    auto other = complete(loaded->model, "Once upon a time number " + std::to_string(i),
                          {.max_tokens = 40, .ignore_eos = true});
    ASSERT_TRUE(engine.admit(*other));
  }
  const auto id = engine.admit(sea(loaded->model, kTokens));
  ASSERT_TRUE(id);
  int64_t crowd = 0;
  while (!engine.done(*id)) {
    while (engine.take(*id)) continue;
    if (engine.done(*id)) break;
    const auto report = engine.step();
    ASSERT_TRUE(report) << report.error().message;
    crowd = std::max(crowd, (*report)->sequences);
  }
  EXPECT_EQ(crowd, 6) << "there was a crowd";
  const auto done = engine.result(*id);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->logits_hash, committed(kTokens).hash);
  EXPECT_EQ(done->ids, committed(kTokens).ids);
}

TEST(RealModelMemory, a_decode_step_allocates_nothing) {
  MUMMU_NEEDS(fixture("SmolLM2-135M-Instruct.Q4_1.gguf"));
  auto loaded = load(Isa::automatic, 2);
  ASSERT_TRUE(loaded) << loaded.error().message;
  Engine engine(loaded->model, {.context = 512});
  const auto id = engine.admit(sea(loaded->model, 48));
  ASSERT_TRUE(id);
  for (int step = 0; step < 4; ++step) {
    ASSERT_TRUE(engine.step());
    while (engine.take(*id)) continue;
  }
  int64_t decoded = 0;
  const int64_t allocated = count_allocations([&] {
    for (int step = 0; step < 32 && engine.step(); ++step)
      while (engine.take(*id)) ++decoded;
  });
  EXPECT_EQ(allocated, 0);
  EXPECT_GE(decoded, 20);
}

TEST(RealModelText, a_stop_text_is_not_part_of_the_answer) {
  MUMMU_NEEDS(fixture("SmolLM2-135M-Instruct.Q4_1.gguf"));
  auto loaded = load(Isa::automatic, 2);
  ASSERT_TRUE(loaded) << loaded.error().message;
  Request request = *chat(loaded->model, {{"user", "Why is the sea salty?"}}, {.max_tokens = 60});
  const auto whole = answer(loaded->model, request);
  ASSERT_TRUE(whole);
  const size_t at = whole->text.find("salt, ");
  ASSERT_NE(at, std::string::npos) << whole->text;
  request.options.stop = {"salt, "};
  std::string streamed;
  Engine engine(loaded->model, {.context = 512});
  const auto done = generate(engine, request, [&](const Token& token) {
    streamed += token.text;
    return Flow::go_on;
  });
  ASSERT_TRUE(done);
  EXPECT_EQ(done->text, whole->text.substr(0, at));
  EXPECT_EQ(streamed, done->text);
  EXPECT_EQ(done->finish, Finish::stop);
}

}  // namespace
}  // namespace mummu::test
