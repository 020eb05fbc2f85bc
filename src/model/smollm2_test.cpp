// The default model against transformers, which computes the same file's weights in float32. The
// reference's 64 best log-probabilities of every position of greedy answers are stored; the rest of
// its distribution counts as one more outcome, so the figures are a lower bound of the divergence.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/test_fixture.h"
#include "model/test_decoder.h"

namespace mummu {
namespace {

using test::fixture;
using test::golden;
using test::load_decoder;
using test::LoadedDecoder;
using test::read_all;
using test::Sequence;

const std::string kModel = fixture("SmolLM2-135M-Instruct.Q4_1.gguf");
const std::string kExport = fixture("smollm2-f32");
constexpr size_t kTop = 64;

// llama.cpp gives 0.00237 and 97.31 % on the same positions (tool/compare_llamacpp.py).
constexpr double kMostDivergence = 1.1 * 0.00237;
constexpr double kLeastAgreement = 0.9731 - 0.01;

double log_sum_exp(std::span<const float> logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float logit : logits) sum += std::exp(static_cast<double>(logit) - top);
  return top + std::log(sum);
}

// KL(reference || ours) of one position.
double divergence(std::span<const float> logits, std::span<const int32_t> ids,
                  std::span<const float> logprobs) {
  const double norm = log_sum_exp(logits);
  double sum = 0;
  double theirs = 0;
  double ours = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const double p = std::exp(static_cast<double>(logprobs[i]));
    const double log_q = static_cast<double>(logits[static_cast<size_t>(ids[i])]) - norm;
    sum += p * (static_cast<double>(logprobs[i]) - log_q);
    theirs += p;
    ours += std::exp(log_q);
  }
  const double rest = std::max(1 - theirs, 1e-12);
  return sum + rest * std::log(rest / std::max(1 - ours, 1e-12));
}

struct Figures {
  double divergence = 0;  // mean, nats
  double agreement = 0;   // share of positions with the same best token
  int64_t positions = 0;
};

Figures measure(const LoadedDecoder& loaded, DType kv) {
  const auto file = Safetensors::open(golden("smollm2/reference.safetensors")).value();
  const auto ids = read_all<int32_t>(file, "ids");
  const auto lengths = read_all<int32_t>(file, "lengths");
  const auto first = read_all<int32_t>(file, "first");
  const auto top_ids = read_all<int32_t>(file, "top_ids");
  const auto top_logprobs = read_all<float>(file, "top_logprobs");

  Figures figures;
  size_t begin = 0;
  size_t row = 0;
  for (size_t s = 0; s < lengths.size(); ++s) {
    Sequence sequence(loaded, lengths[s], kv);
    sequence.feed(std::span(ids).subspan(begin, static_cast<size_t>(lengths[s])));
    begin += static_cast<size_t>(lengths[s]);
    for (int32_t p = first[s]; p < lengths[s]; ++p, ++row) {
      const auto logits = sequence.row(p);
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      figures.agreement += best == top_ids[row * kTop] ? 1 : 0;
      figures.divergence += divergence(logits, std::span(top_ids).subspan(row * kTop, kTop),
                                       std::span(top_logprobs).subspan(row * kTop, kTop));
    }
  }
  figures.positions = static_cast<int64_t>(row);
  figures.divergence /= static_cast<double>(row);
  figures.agreement /= static_cast<double>(row);
  return figures;
}

TEST(SmolLm2, predicts_what_transformers_predicts) {
  MUMMU_NEEDS(kModel);
  Threads threads;
  const auto device = open_device("cpu", {.parallel = std::move(threads)}).value();
  const auto loaded = load_decoder(kModel, device).value();
  const Figures figures = measure(loaded, DType::f16);
  std::printf("%ld positions: mean KL(reference || ours) %.5f, top-1 agreement %.2f %%\n",
              static_cast<long>(figures.positions), figures.divergence, 100 * figures.agreement);
  EXPECT_GE(figures.positions, 2000);
  EXPECT_LE(figures.divergence, kMostDivergence);
  EXPECT_GE(figures.agreement, kLeastAgreement);
}

TEST(SmolLm2, the_folder_and_the_gguf_file_say_the_same_of_themselves) {
  MUMMU_NEEDS(kModel);
  if (!std::filesystem::exists(kExport))
    GTEST_SKIP() << "skipped: " << kExport
                 << " is missing; make it with tool/make_golden.py smollm2-f32";
  const auto device = open_device("cpu").value();
  const ModelInfo a = Model::inspect(kModel, device).value();
  const ModelInfo b = Model::inspect(kExport, device).value();
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_EQ(a.context, b.context);
  EXPECT_TRUE(
      std::is_permutation(a.end_ids.begin(), a.end_ids.end(), b.end_ids.begin(), b.end_ids.end()));
}

TEST(SmolLm2, the_same_weights_in_f32_give_the_same_logits_within_1e_3) {
  if (!std::filesystem::exists(kExport))
    GTEST_SKIP() << "skipped: " << kExport
                 << " is missing; make it with tool/make_golden.py smollm2-f32";
  Threads threads;
  const auto device = open_device("cpu", {.parallel = std::move(threads)}).value();
  const auto loaded = load_decoder(kExport, device).value();
  const auto expected = Safetensors::open(kExport + "/expected/logits.safetensors").value();
  const auto ids = read_all<int32_t>(expected, "ids");
  const auto logits = read_all<float>(expected, "logits");
  Sequence sequence(loaded, static_cast<int64_t>(ids.size()), DType::f32);
  sequence.feed(ids);
  float worst = 0;
  for (size_t i = 0; i < logits.size(); ++i)
    worst = std::max(worst, std::abs(sequence.logits[i] - logits[i]));
  const Figures figures = measure(loaded, DType::f32);
  std::printf("max |difference of logits| %.3g; mean KL %.3g, top-1 agreement %.2f %%\n",
              static_cast<double>(worst), figures.divergence, 100 * figures.agreement);
  EXPECT_LE(worst, 1e-3F);
}

// The export holds the values of the Q4_1 file, so that these are the divergences that quantising
// them once more adds.
TEST(SmolLm2, the_f32_weights_quantised_at_load_predict_what_transformers_predicts) {
  if (!std::filesystem::exists(kExport))
    GTEST_SKIP() << "skipped: " << kExport
                 << " is missing; make it with tool/make_golden.py smollm2-f32";
  struct Bound {
    DType type;
    double divergence, agreement;
  };
  for (const Bound& bound : {Bound{DType::q8_0, 0.005, 0.97}, Bound{DType::q4_0, 0.4, 0.7}}) {
    const auto device = open_device("cpu", {.parallel = Threads()}).value();
    const auto loaded = load_decoder(kExport, device, bound.type).value();
    const Figures figures = measure(loaded, DType::f16);
    std::printf("%s: mean KL %.5f, top-1 agreement %.2f %%\n", name(bound.type).data(),
                figures.divergence, 100 * figures.agreement);
    EXPECT_LE(figures.divergence, bound.divergence);
    EXPECT_GE(figures.agreement, bound.agreement);
  }
}

}  // namespace
}  // namespace mummu
