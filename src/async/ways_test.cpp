// The determinism matrix gains a dimension: each way of driving gives the bits of a plain callback
// alone, whatever the company, the chunks, the pages found, the bound, the device and the host's
// float mode. Tiny checkpoints of every family, and the default model.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <memory>

#include "async/test/way.h"
#include "base/sanitized.h"
#include "base/test_fixture.h"
#include "device/machine.h"
#include "device/test/bed.h"
#include "engine/test/matrix.h"
#include "engine/test/random.h"
#include "model/model_impl.h"

namespace mummu::test {
namespace {

constexpr int64_t kPrompt = 37;  // two whole pages and five tokens
constexpr int64_t kAnswer = 14;  // ends in the fourth page

enum WayFactor : size_t { kWay, kBeside, kStep, kFound, kBound, kPool, kSet, kKeys, kFloats };

const std::vector<Factor>& way_factors() {
  static const std::vector<Factor> factors = [] {
    std::vector<Factor> all = {{"way", {}},
                               {"crowd", {"alone", "seven"}},
                               {"chunk", {"1", "16", "all"}},
                               {"prefix", {"cold", "hit"}},
                               {"bound", {"1", "3", "64"}},
                               {"threads", {"1", "2"}},
                               {"isa", {"reference", "avx2", "avx512"}},
                               {"kv", {"f32", "f16", "bf16", "q8_0"}},
                               {"mode", {"usual", "hostile"}}};
    for (const Way& way : ways()) all[kWay].levels.push_back(way.name);
    return all;
  }();
  return factors;
}

std::vector<TokenId> tokens(Random& random, int64_t count, int64_t vocab) {
  std::vector<TokenId> ids(static_cast<size_t>(count));
  for (TokenId& id : ids) id = static_cast<TokenId>(random.below(vocab));
  return ids;
}

// Everything that must not move.
struct Bits {
  std::vector<TokenId> ids, streamed;
  std::string text, streamed_text;
  std::vector<uint32_t> logprobs;
  uint64_t logits_hash = 0;

  explicit Bits(const Driven& driven)
      : ids(driven.done.ids),
        streamed(driven.streamed),
        text(driven.done.text),
        streamed_text(driven.text),
        logits_hash(driven.done.logits_hash) {
    for (const TokenLogprob& token : driven.done.logprobs)
      for (const TopLogprob& top : token.top) {
        logprobs.push_back(static_cast<uint32_t>(top.id));
        logprobs.push_back(std::bit_cast<uint32_t>(top.logprob));
      }
  }
  bool operator==(const Bits&) const = default;
};

// One checkpoint on the devices that its rows ask for.
class Rows {
 public:
  explicit Rows(std::string path) : path_(std::move(path)) {}

  void run(const Row& row) {
    SCOPED_TRACE(row.name());
    if (!cpu_has(isa(row))) return;
    Row plain(way_factors());
    plain.level[kWay] = level_of_callback();
    plain.level[kStep] = 2;
    plain.level[kBound] = 2;
    plain.level[kSet] = 1;
    plain.level[kKeys] = row.level[kKeys];
    auto& expected = expected_[row.level[kKeys]];
    if (!expected) expected = std::make_unique<Bits>(drive(plain));
    ASSERT_EQ(std::ssize(expected->ids), kAnswer);
    ASSERT_EQ(expected->streamed, expected->ids);
    ASSERT_EQ(std::ssize(expected->logprobs), kAnswer * 4);
    EXPECT_EQ(Bits(drive(row)), *expected);
    ++count;
  }

  int64_t count = 0;

 private:
  static int level_of_callback() {
    const auto& names = way_factors()[kWay].levels;
    return static_cast<int>(std::find(names.begin(), names.end(), std::string_view("callback")) -
                            names.begin());
  }
  static bool is(const Row& row, WayFactor factor, std::string_view level) {
    return row[factor] == level;
  }
  static Isa isa(const Row& row) {
    return is(row, kSet, "avx512") ? Isa::avx512
           : is(row, kSet, "avx2") ? Isa::avx2
                                   : Isa::reference;
  }

  const GateModels& models(const Row& row) {
    auto& slot = loaded_[std::pair(row.level[kSet], row.level[kPool])];
    if (slot) return *slot;
    auto device = open_device("cpu", {.parallel = Threads(row[kPool][0] - '0'), .isa = isa(row)});
    auto first = Model::load(path_, *device), second = Model::load(path_, *device);
    EXPECT_TRUE(first && second) << first.error().message;
    slot = std::make_unique<GateModels>(*std::move(device), *std::move(first), *std::move(second));
    return *slot;
  }

  static EngineOptions options(const Row& row) {
    constexpr KvType kTypes[] = {KvType::f32, KvType::f16, KvType::bf16, KvType::q8_0};
    return {.context = 96,
            .kv_tokens = 1024,
            .kv = kTypes[row.level[kKeys]],
            .max_pending = std::atoi(row[kBound]),
            .step_tokens = is(row, kStep, "all") ? 4096 : std::atoi(row[kStep])};
  }

  Driven drive(const Row& row) {
    const GateModels& with = models(row);
    const int64_t vocab = with.first.impl().tokenizer.vocab();
    Random random(7);
    const std::vector<TokenId> prompt = tokens(random, kPrompt, vocab);
    Driving driving = {.device = with.device,
                       .model = with.first,
                       .second = with.second,
                       .options = options(row),
                       .before = {},
                       .neighbours = {},
                       .request = *complete(with.first, prompt,
                                            {.max_tokens = kAnswer,
                                             .temperature = 0.8F,
                                             .top_p = 0.95F,
                                             .seed = 42,
                                             .frequency_penalty = 0.5F,
                                             .ignore_eos = true,
                                             .logprobs = true,
                                             .top_logprobs = 2})};
    if (is(row, kFound, "hit"))
      driving.before = *complete(with.first, std::vector(prompt.begin(), prompt.begin() + 33),
                                 {.max_tokens = 1, .ignore_eos = true});
    if (is(row, kBeside, "seven"))
      for (int i = 0; i < 7; ++i)
        driving.neighbours.push_back(*complete(with.first,
                                               tokens(random, random.between(1, 28), vocab),
                                               {.max_tokens = 20,
                                                .temperature = 1,
                                                .seed = static_cast<uint64_t>(i),
                                                .ignore_eos = true}));
    const HostModeGuard mode(is(row, kFloats, "hostile") ? HostMode::flushing_rounding_down
                                                         : HostMode::usual);
    auto driven = ways()[static_cast<size_t>(row.level[kWay])].drive(std::move(driving));
    if (!driven) ADD_FAILURE() << driven.error().message;
    if (!driven) return {};
    check_causes(row, *driven);
    return *std::move(driven);
  }

  static void check_causes(const Row& row, const Driven& driven) {
    EXPECT_EQ(driven.done.usage.cached_tokens, is(row, kFound, "hit") ? 32 : 0);
    if (is(row, kBeside, "alone")) {
      EXPECT_EQ(driven.company, 1);
    } else if (!is(row, kStep, "1")) {
      EXPECT_GE(driven.company, 2);
    }
  }

  std::string path_;
  std::map<std::pair<int, int>, std::unique_ptr<GateModels>> loaded_;
  std::map<int, std::unique_ptr<Bits>> expected_;  // by KV type
};

std::vector<Row> rows_to_run() {
  auto rows = asked_rows(way_factors());
  return rows.empty() ? pairwise_rows(1, way_factors()) : rows;
}

class WayMatrix : public testing::TestWithParam<const char*> {};

TEST_P(WayMatrix, every_row_gives_the_bits_of_the_callback_alone) {
  Rows rows(golden(GetParam()));
  for (const Row& row : rows_to_run()) {
    rows.run(row);
    if (HasFailure()) return;
  }
  std::printf("%s: %lld rows\n", GetParam(), static_cast<long long>(rows.count));
}

INSTANTIATE_TEST_SUITE_P(Families, WayMatrix,
                         testing::Values("llama/gqa", "qwen2/tied", "qwen3/wide", "lfm2/mixed",
                                         "olmoe/top8"),
                         [](const auto& given) { return test::case_name(given.param); });

// Each way alone and in a crowd, on one thread; under sanitizers one of them.
TEST(WayMatrixReal, the_default_model_gives_the_bits_of_the_callback_alone) {
  const std::string path = fixture("SmolLM2-135M-Instruct.Q4_1.gguf");
  MUMMU_NEEDS(path);
  Rows rows(path);
  for (size_t way = 0; way < ways().size() && !HasFailure(); ++way)
    for (const int beside : {0, 1}) {
      if (kSanitized && ways()[way].name != std::string_view("on_ready")) continue;
      Row row(way_factors());
      row.level = {static_cast<int>(way), beside, 2, beside, 2, 0, 1, 1, 0};
      rows.run(row);
    }
}

}  // namespace
}  // namespace mummu::test
