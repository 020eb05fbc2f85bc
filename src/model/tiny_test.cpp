// Every family's tiny checkpoints against transformers, layer by layer (golden/FAMILY/VARIANT, made
// by tool/make_golden.py), in both formats, at lengths around the edges of pages and spans, and in
// pieces cut anywhere.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/test_fixture.h"
#include "model/test_decoder.h"

namespace mummu {
namespace {

using test::golden;
using test::load_decoder;
using test::LoadedDecoder;
using test::read_all;
using test::Sequence;

// Largest difference of a family's activations and logits, as a share of the largest one of the
// same layer. Both sides compute in f32 and add in other orders; the largest seen is half of these.
double bound(std::string_view checkpoint) {
  if (checkpoint.starts_with("lfm2/")) return 2e-6;
  if (checkpoint.starts_with("llama/") || checkpoint.starts_with("qwen3/")) return 3e-6;
  return 6e-6;  // qwen2, olmoe
}

struct Expected {
  std::vector<int32_t> ids, rows, prompt, greedy;
  std::vector<float> hidden, logits;
};

Expected read_expected(const std::string& folder) {
  const auto file = Safetensors::open(folder + "/expected.safetensors").value();
  return {.ids = read_all<int32_t>(file, "ids"),
          .rows = read_all<int32_t>(file, "rows"),
          .prompt = read_all<int32_t>(file, "prompt"),
          .greedy = read_all<int32_t>(file, "greedy"),
          .hidden = read_all<float>(file, "hidden"),
          .logits = read_all<float>(file, "logits")};
}

// The largest difference over all stored rows that were computed, relative to the largest value.
double difference(std::span<const float> ours, std::span<const float> expected,
                  std::span<const int32_t> rows, size_t columns) {
  double worst = 0;
  double largest = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    const size_t begin = static_cast<size_t>(rows[r]) * columns;
    if (begin >= ours.size()) break;
    for (size_t i = 0; i < columns; ++i) {
      const double want = expected[r * columns + i];
      const double off = std::abs(static_cast<double>(ours[begin + i]) - want);
      worst = std::isnan(off) ? INFINITY : std::max(worst, off);
      largest = std::max(largest, std::abs(want));
    }
  }
  return worst / largest;
}

class Tiny : public testing::TestWithParam<const char*> {
 protected:
  std::string folder() const { return golden(GetParam()); }
  std::string gguf() const {
    const std::string whole = folder() + "/model.gguf";
    return std::filesystem::exists(whole) ? whole : folder() + "/model-00001-of-00003.gguf";
  }

  Device device_ = open_device("cpu").value();
};

TEST_P(Tiny, layers_and_logits_are_those_of_transformers) {
  const auto loaded = load_decoder(folder(), device_).value();
  const Expected expected = read_expected(folder());
  const auto hidden = static_cast<size_t>(loaded.decoder->hidden);
  double worst = 0;
  for (size_t length : {1, 2, 15, 16, 17, 511, 512, 513, 1100}) {
    Sequence sequence(loaded, static_cast<int64_t>(length), DType::f32, true);
    sequence.feed(std::span(expected.ids).first(length));
    for (size_t layer = 0; layer < sequence.hidden.size(); ++layer) {
      const size_t stored = expected.rows.size() * hidden;
      const double off = difference(sequence.hidden[layer],
                                    std::span(expected.hidden).subspan(layer * stored, stored),
                                    expected.rows, hidden);
      EXPECT_LE(off, bound(GetParam())) << "layer " << layer << " at length " << length;
      worst = std::max(worst, off);
    }
    const double off = difference(sequence.logits, expected.logits, expected.rows,
                                  static_cast<size_t>(loaded.decoder->vocab()));
    EXPECT_LE(off, bound(GetParam())) << "logits at length " << length;
    worst = std::max(worst, off);
  }
  std::printf("%s: largest relative difference %.2g\n", GetParam(), worst);
}

TEST_P(Tiny, gguf_and_safetensors_give_the_same_bits) {
  const auto folder_loaded = load_decoder(folder(), device_).value();
  const auto gguf_loaded = load_decoder(gguf(), device_).value();
  const Expected expected = read_expected(folder());
  Sequence a(folder_loaded, 1100, DType::f32);
  Sequence b(gguf_loaded, 1100, DType::f32);
  a.feed(expected.ids);
  b.feed(expected.ids);
  ASSERT_EQ(a.logits.size(), b.logits.size());
  EXPECT_EQ(std::memcmp(a.logits.data(), b.logits.data(), a.logits.size() * sizeof(float)), 0);
}

TEST_P(Tiny, a_prompt_in_two_pieces_gives_the_same_bits_wherever_it_is_cut) {
  const auto loaded = load_decoder(folder(), device_).value();
  const auto ids = read_expected(folder()).ids;
  constexpr size_t kLength = 70;
  for (DType kv : {DType::f32, DType::f16}) {
    Sequence whole(loaded, kLength, kv);
    whole.feed(std::span(ids).first(kLength));
    for (size_t cut = 1; cut < kLength; ++cut) {
      Sequence pieces(loaded, kLength, kv);
      pieces.feed(std::span(ids).first(cut));
      pieces.feed(std::span(ids).subspan(cut, kLength - cut));
      ASSERT_EQ(std::memcmp(whole.logits.data(), pieces.logits.data(),
                            whole.logits.size() * sizeof(float)),
                0)
          << "cut at " << cut;
    }
  }
}

TEST_P(Tiny, greedy_ids_are_those_of_transformers) {
  const auto loaded = load_decoder(folder(), device_).value();
  const Expected expected = read_expected(folder());
  std::vector<TokenId> ids = expected.prompt;
  Sequence sequence(loaded, static_cast<int64_t>(ids.size() + expected.greedy.size()), DType::f32);
  sequence.feed(ids);
  for (size_t i = 0; i < expected.greedy.size(); ++i) {
    const auto row = sequence.row(static_cast<int64_t>(ids.size()) - 1);
    const auto best = static_cast<TokenId>(std::max_element(row.begin(), row.end()) - row.begin());
    ASSERT_EQ(best, expected.greedy[i]) << "token " << i;
    ids.push_back(best);
    sequence.feed({&best, 1});
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Tiny,
                         testing::Values("llama/gqa", "llama/bias", "llama/llama3", "llama/yarn",
                                         "qwen2/tied", "qwen2/sharded", "qwen3/wide", "qwen3/tied",
                                         "lfm2/mixed", "lfm2/untied", "olmoe/top8", "olmoe/normed",
                                         "olmoe/tied"),
                         [](const auto& given) { return test::case_name(given.param); });

}  // namespace
}  // namespace mummu
