// The determinism matrix (matrix.h) on tiny checkpoints of every family, and a few rows on the
// default model. MUMMU_MATRIX (matrix.h) says which cells run (tool/nightly.sh: all), else a
// pairwise table.

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/sanitized.h"
#include "base/test_fixture.h"
#include "device/machine.h"
#include "device/test/bed.h"
#include "engine/engine_impl.h"
#include "engine/test/matrix.h"
#include "engine/test/random.h"
#include "engine/test/witness.h"
#include "model/model_impl.h"

namespace mummu::test {
namespace {

constexpr int64_t kPrompt = 67;  // four whole pages and three tokens
constexpr int64_t kAnswer = 24;  // ends in the middle of the sixth
constexpr int64_t kMostSteps = 20000;

// A host's pool that runs the pieces on the calling thread, last piece first.
class BackwardPool final : public Parallel::Pool {
 public:
  int width() const override { return 4; }
  void for_each(int64_t count, void (*work)(void*, int64_t), void* context) override {
    for (int64_t i = count; i-- > 0;) work(context, i);
  }
};

Parallel parallel(std::string_view threads) {
  if (threads == "own") return Parallel(std::make_unique<BackwardPool>());
  return Threads(threads[0] - '0');
}

Isa isa_of(std::string_view word) {
  return word == "avx512" ? Isa::avx512 : word == "avx2" ? Isa::avx2 : Isa::reference;
}

DType kv_of(std::string_view word) {
  return word == "f32"    ? DType::f32
         : word == "f16"  ? DType::f16
         : word == "bf16" ? DType::bf16
                          : DType::q8_0;
}

struct Loaded {
  Device device;
  Model model;
};

std::vector<TokenId> tokens(Random& random, int64_t count, int64_t vocab) {
  std::vector<TokenId> ids(static_cast<size_t>(count));
  for (TokenId& id : ids) id = static_cast<TokenId>(random.below(vocab));
  return ids;
}

// Everything that must not move.
struct Bits {
  std::vector<TokenId> ids;
  std::vector<uint32_t> logprobs;  // of the tokens and of their alternatives, and whose they are
  uint64_t logits_hash = 0;
};

Bits bits_of(const Completion& done) {
  Bits bits{.ids = done.ids, .logprobs = {}, .logits_hash = done.logits_hash};
  for (const TokenLogprob& token : done.logprobs) {
    bits.logprobs.push_back(std::bit_cast<uint32_t>(token.logprob));
    for (const TopLogprob& top : token.top) {
      bits.logprobs.push_back(static_cast<uint32_t>(top.id));
      bits.logprobs.push_back(std::bit_cast<uint32_t>(top.logprob));
    }
  }
  return bits;
}

// One row, lived through on an engine of its own.
class RowRun {
 public:
  RowRun(const Loaded& loaded, const Row& row, int64_t hit_pages, PageBytes& pages)
      : model_(loaded.model.impl()),
        row_(row),
        hit_pages_(hit_pages),
        mode_(row[kMode] == std::string_view("hostile") ? HostMode::flushing_rounding_down
                                                        : HostMode::usual),
        alone_(row[kCrowd] == std::string_view("alone")),
        pool_tokens_(alone_ ? 144 : 640),
        engine_(nullptr),
        prompt_(tokens(random_, kPrompt, model_.tokenizer.vocab())) {
    EngineOptions options;
    options.context = options.kv_tokens = pool_tokens_;
    options.max_sequences = 16;
    options.max_pending = 1000;
    const std::string_view chunk = row[kChunk];
    options.step_tokens = chunk == "all" ? 4096 : std::atoi(chunk.data());
    engine_ = Engine(std::make_unique<Engine::Impl>(
        EngineParts{.forward = std::make_unique<WitnessForward>(*model_.ops, model_.decoder,
                                                                kv_of(row[kKv]), pages),
                    .tokenizer = &model_.tokenizer,
                    .model = &model_,
                    .end_ids = {},
                    .now_ms = {}},
        std::move(options)));
  }

  Bits run() {
    find_pages();
    begin_crowd();
    subject_ = admit(prompt_, subject_options());
    while (!engine_.done(subject_) && !testing::Test::HasFailure()) {
      step();
      go_through_events();
    }
    check_causes();
    const auto done = engine_.result(subject_);
    EXPECT_TRUE(done) << done.error().message;
    return done ? bits_of(*done) : Bits();
  }

 private:
  bool is(FactorIndex factor, std::string_view level) const { return row_[factor] == level; }

  static RequestOptions subject_options() {
    return {.max_tokens = kAnswer,
            .temperature = 0.8F,
            .top_p = 0.95F,
            .seed = 42,
            .repetition_penalty = 1.1F,
            .frequency_penalty = 0.5F,
            .ignore_eos = true,
            .logprobs = true,
            .top_logprobs = 3};
  }

  RequestId admit(std::vector<TokenId> prompt, RequestOptions options) {
    options.ignore_eos = true;
    const auto id = engine_.admit({&model_, std::move(prompt), std::move(options)});
    EXPECT_TRUE(id) << id.error().message;
    return id ? *id : RequestId{};
  }

  // One step in the host's mode; takes what the subject said and notes what happened to it.
  const StepReport& step() {
    const StepReport* report = nullptr;
    {
      const HostModeGuard mode(mode_);
      report = *engine_.step();
    }
    EXPECT_LT(++steps_, kMostSteps);
    subject_computed_ = 0;
    for (const StepReport::Choice& choice : report->choices) {
      if (choice.request != subject_) continue;
      subject_computed_ = choice.computed;
      holds_pages_ = choice.computed > 0 || (holds_pages_ && !choice.preempted);
      subject_generated_ += choice.generated;
      preempted_ += choice.preempted;
      if (preempted_ == 0) cached_ += choice.cached_tokens;
    }
    if (subject_computed_ > 0) most_together_ = std::max(most_together_, report->sequences);
    if (subject_.value != 0) others_computed_ += report->tokens - subject_computed_;
    report_ = *report;
    while (subject_.value != 0 && engine_.take(subject_)) continue;
    return report_;
  }

  // Runs one request to its end and returns how many tokens of its prompt were found.
  int64_t run_alone(std::vector<TokenId> prompt) {
    const RequestId id = admit(std::move(prompt), {.max_tokens = 1});
    while (!engine_.done(id) && !testing::Test::HasFailure()) {
      step();
      while (engine_.take(id)) continue;
    }
    return engine_.result(id)->usage.cached_tokens;
  }

  // What the subject will find: nothing, the first pages of its prompt, or all of them after they
  // were lost once.
  void find_pages() {
    if (is(kPrefix, "cold")) return;
    std::vector<TokenId> beginning = prompt_;
    beginning.resize(static_cast<size_t>(16 * hit_pages_));
    beginning.push_back(1);
    EXPECT_EQ(run_alone(beginning), 0);
    if (is(kPrefix, "hit")) return;
    run_alone(tokens(random_, pool_tokens_ - 1, model_.tokenizer.vocab()));
    EXPECT_EQ(run_alone(beginning), 0) << "its pages were evicted";
  }

  void admit_neighbour() {
    const RequestOptions options = {.max_tokens = random_.between(26, 36),
                                    .temperature = random_.chance(50) ? 1.0F : 0.0F,
                                    .seed = static_cast<uint64_t>(random_.below(99))};
    neighbours_.push_back(
        admit(tokens(random_, random_.between(1, 28), model_.tokenizer.vocab()), options));
  }

  void begin_crowd() {
    if (alone_) return;
    for (int i = 0; i < 7; ++i) admit_neighbour();
    if (is(kCrowd, "late"))
      for (int i = 0; i < 4; ++i) step();
  }

  // Whatever the row does to the subject, at fixed points of its life.
  void go_through_events() {
    if (is(kCrowd, "cancelled") && neighbours_.size() > 2 && random_.chance(30)) {
      engine_.cancel(neighbours_.back());
      neighbours_.pop_back();
      ++cancelled_;
    }
    if (engine_.done(subject_)) return;
    for (const int64_t point : {0, 5})
      if (is(kPaused, "yes") && pauses_ == (point > 0) && subject_generated_ >= point) pause();
    const int64_t wanted = row_[kPreempted][0] - '0';
    for (const int64_t point : {0, 3, 9})
      if (wanted > (point < 9 ? 1 : 0) && holds_pages_ && subject_generated_ >= point &&
          !was_at(point))
        preempt();
  }

  bool was_at(int64_t point) {
    bool& was = points_[static_cast<size_t>(point)];
    return std::exchange(was, true);
  }

  void pause() {
    engine_.pause(subject_);
    for (int i = 0; i < 2; ++i) {
      const StepReport& report = step();
      EXPECT_GE(report.paused, 1);
      EXPECT_EQ(subject_computed_, 0);
    }
    engine_.resume(subject_);
    ++pauses_;
  }

  // A request of higher priority that needs all pages comes, and goes once it has them.
  void preempt() {
    const int64_t before = preempted_;
    RequestOptions options = {.max_tokens = 1, .priority = 1};
    const RequestId thief =
        admit(tokens(random_, pool_tokens_ - 1, model_.tokenizer.vocab()), options);
    for (int i = 0; i < 50 && preempted_ == before; ++i) step();
    EXPECT_EQ(preempted_, before + 1);
    engine_.forget(thief);
  }

  void check_causes() const {
    EXPECT_EQ(preempted_, row_[kPreempted][0] - '0');
    EXPECT_EQ(pauses_, is(kPaused, "yes") ? 2 : 0);
    EXPECT_EQ(cached_, is(kPrefix, "cold") ? 0 : 16 * hit_pages_);
    if (alone_) {
      EXPECT_EQ(most_together_, 1);
    }
    if (!alone_) {
      EXPECT_GT(others_computed_, 8);
    }
    if (!alone_ && !is(kChunk, "1")) {
      EXPECT_GE(most_together_, 2);
    }
    if (is(kCrowd, "cancelled")) {
      EXPECT_GT(cancelled_, 0);
    }
  }

  const Model::Impl& model_;
  Row row_;
  int64_t hit_pages_;
  HostMode mode_;
  bool alone_;
  int64_t pool_tokens_;
  Engine engine_;
  Random random_{7};
  std::vector<TokenId> prompt_;
  RequestId subject_;
  std::vector<RequestId> neighbours_;
  StepReport report_;
  std::array<bool, 32> points_ = {};
  int64_t steps_ = 0;
  int64_t subject_computed_ = 0, subject_generated_ = 0;
  bool holds_pages_ = false;
  int64_t cached_ = 0, preempted_ = 0, pauses_ = 0, cancelled_ = 0;
  int64_t most_together_ = 0, others_computed_ = 0;
};

// The rows of one checkpoint, and the answers they are compared with.
class Checkpoint {
 public:
  explicit Checkpoint(std::string path) : path_(std::move(path)) {}

  void run(const Row& row, int64_t hit_pages) {
    SCOPED_TRACE(row.name());
    if (!cpu_has(isa_of(row[kIsa]))) return;
    const auto kv = static_cast<size_t>(row.level[kKv]);
    if (expected_[kv].ids.empty()) {
      Row plain;
      plain.level[kChunk] = 4;
      plain.level[kIsa] = plain_isa_;
      plain.level[kKv] = row.level[kKv];
      expected_[kv] = RowRun(loaded(plain), plain, 0, pages_[kv]).run();
      ASSERT_EQ(std::ssize(expected_[kv].ids), kAnswer);
      ASSERT_EQ(std::ssize(expected_[kv].logprobs), kAnswer * 7);
    }
    const Bits got = RowRun(loaded(row), row, hit_pages, pages_[kv]).run();
    EXPECT_EQ(got.ids, expected_[kv].ids);
    EXPECT_EQ(got.logprobs, expected_[kv].logprobs);
    EXPECT_EQ(got.logits_hash, expected_[kv].logits_hash);
    ++rows;
  }

  void skip_reference() { plain_isa_ = 1; }

  int64_t rows = 0;

 private:
  const Loaded& loaded(const Row& row) {
    auto& slot = loaded_[std::pair(row.level[kIsa], row.level[kThreads])];
    if (!slot) {
      auto device =
          open_device("cpu", {.parallel = parallel(row[kThreads]), .isa = isa_of(row[kIsa])});
      auto model = Model::load(path_, *device);
      EXPECT_TRUE(model) << model.error().message;
      slot = std::make_unique<Loaded>(Loaded{std::move(*device), std::move(*model)});
    }
    return *slot;
  }

  std::string path_;
  int plain_isa_ = 0;
  std::map<std::pair<int, int>, std::unique_ptr<Loaded>> loaded_;
  std::array<Bits, 4> expected_;    // by KV type
  std::array<PageBytes, 4> pages_;  // by KV type
};

std::vector<Row> rows_to_run() {
  auto rows = asked_rows();
  if (!rows.empty()) return rows;
  rows = pairwise_rows(1);
  if (kSanitized) return rows;
  for (const Row& row : pairwise_rows(2)) rows.push_back(row);
  return rows;
}

class Determinism : public testing::TestWithParam<const char*> {};

TEST_P(Determinism, every_row_of_the_matrix_gives_the_same_bits) {
  Checkpoint checkpoint(golden(GetParam()));
  const auto rows = rows_to_run();
  for (size_t i = 0; i < rows.size() && !HasFailure(); ++i)
    checkpoint.run(rows[i], 1 + static_cast<int64_t>(i % 4));
  std::printf("%s: %lld rows\n", GetParam(), static_cast<long long>(checkpoint.rows));
}

TEST_P(Determinism, a_prefix_hits_at_every_page) {
  Checkpoint checkpoint(golden(GetParam()));
  Row row;
  for (const int kv : {0, 1, 2, 3})
    for (const int isa : {1, 2})
      for (int64_t pages = 1; pages <= 4; ++pages) {
        row.level[kPrefix] = 1;
        row.level[kIsa] = isa;
        row.level[kKv] = kv;
        row.level[kChunk] = static_cast<int>(pages);
        checkpoint.run(row, pages);
      }
}

INSTANTIATE_TEST_SUITE_P(Families, Determinism,
                         testing::Values("llama/gqa", "qwen2/tied", "qwen3/wide", "lfm2/mixed",
                                         "olmoe/top8"),
                         [](const auto& given) { return test::case_name(given.param); });

TEST(DeterminismReal, rows_of_the_matrix_on_the_default_model_give_the_same_bits) {
  const std::string path = fixture("SmolLM2-135M-Instruct.Q4_1.gguf");
  MUMMU_NEEDS(path);
  Checkpoint checkpoint(path);
  checkpoint.skip_reference();
  const auto rows = pairwise_rows(3);
  for (size_t i = 0; i < rows.size() && checkpoint.rows < (kSanitized ? 2 : 8) && !HasFailure();
       ++i) {
    const bool slow =
        rows[i][kIsa] == std::string_view("reference") || rows[i][kChunk] == std::string_view("1");
    if (!slow) checkpoint.run(rows[i], 1 + static_cast<int64_t>(i % 4));
  }
}

}  // namespace
}  // namespace mummu::test
