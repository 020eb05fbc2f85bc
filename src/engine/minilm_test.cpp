// The real MiniLM on golden/minilm: 200 texts in 26 languages, empty, short, and beyond the 256
// tokens after which they are cut, against sentence-transformers.

#include "device/machine.h"
#include "engine/embed_test.h"

namespace mummu {
namespace {

using test::difference;
using test::fixture;
using test::golden;
using test::read_texts;
using test::read_vectors;
using test::same_bits;

const std::string kModel = fixture("all-MiniLM-L6-v2");

double cosine(std::span<const float> a, std::span<const float> b) {
  double product = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    aa += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    bb += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return product / std::sqrt(aa * bb);
}

Embeddings embed(Isa isa, int threads, std::span<const std::string> texts) {
  const Device device = open_device("cpu", {.parallel = Threads(threads), .isa = isa}).value();
  auto embedder = Embedder::load(kModel, device).value();
  return embedder.embed(texts).value();
}

TEST(MiniLm, vectors_are_those_of_sentence_transformers) {
  MUMMU_NEEDS(kModel);
  const auto texts = read_texts(golden("minilm/texts.jsonl"));
  const auto theirs = read_vectors(golden("minilm/expected.safetensors"), "vectors");
  const auto file = Safetensors::open(golden("minilm/expected.safetensors")).value();
  std::vector<int32_t> tokens(texts.size());
  file.read(*file.find("tokens"), 0, std::as_writable_bytes(std::span(tokens))).value();
  const auto ours = embed(Isa::automatic, 2, texts);
  ASSERT_EQ(ours.size(), 200);
  EXPECT_TRUE(std::equal(tokens.begin(), tokens.end(), ours.tokens.begin(), ours.tokens.end()));
  EXPECT_GE(std::count(ours.cut.begin(), ours.cut.end(), true), 5);
  double lowest = 1;
  for (int64_t i = 0; i < ours.size(); ++i)
    lowest = std::min(lowest, cosine(ours[i], std::span(theirs).subspan(i * 384, 384)));
  const double worst = difference(ours.values, theirs);
  std::printf("smallest cosine 1 - %.2g, largest difference of a component %.2g\n", 1 - lowest,
              worst);
  EXPECT_GE(lowest, 0.99999);
  EXPECT_LE(worst, 1e-5);
}

TEST(MiniLm, every_instruction_set_and_any_company_give_the_same_bits) {
  MUMMU_NEEDS(kModel);
  const auto all = read_texts(golden("minilm/texts.jsonl"));
  const std::vector<std::string> texts(all.begin(), all.begin() + 24);
  const auto first = embed(Isa::automatic, 2, texts);
  for (Isa isa : {Isa::avx2, Isa::avx512})
    if (cpu_has(isa)) {
      EXPECT_TRUE(same_bits(embed(isa, 1, texts).values, first.values));
      EXPECT_TRUE(same_bits(embed(isa, 3, texts).values, first.values));
    }
  const auto few = embed(Isa::reference, 2, std::span(texts).first(3));
  EXPECT_TRUE(same_bits(few.values, std::span(first.values).first(3 * 384)));
}

}  // namespace
}  // namespace mummu
