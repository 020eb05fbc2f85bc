// Texts to vectors: the tiny models of golden/bert and golden/qwen3/embed against
// sentence-transformers, the same bits in any company and on any machine, and calls that are wrong.

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/allocation_count.h"
#include "device/machine.h"
#include "engine/embed_test.h"

namespace mummu {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::difference;
using test::EmbedFolder;
using test::golden;
using test::largest;
using test::read_texts;
using test::read_vectors;
using test::same_bits;
using testing::HasSubstr;

constexpr const char* kModels[] = {"bert/mean", "bert/whole", "qwen3/embed"};

class TinyEmbedder : public testing::TestWithParam<const char*> {
 protected:
  std::string folder() const { return golden(GetParam()); }
  std::vector<float> expected(const char* name) const {
    return read_vectors(folder() + "/expected.safetensors", name);
  }

  std::vector<std::string> texts_ = read_texts(folder() + "/texts.jsonl");
};

TEST_P(TinyEmbedder, vectors_are_those_of_sentence_transformers) {
  const Device device = open_device("cpu").value();
  auto embedder = Embedder::load(folder(), device).value();
  const auto plain = embedder.embed(texts_).value();
  const auto theirs = expected("vectors");
  EXPECT_LE(difference(plain.values, theirs), 1e-5 * largest(theirs));
  if (embedder.info().prompts.empty()) return;
  const auto asked = embedder.embed(texts_, {.prompt_name = "query"}).value();
  const auto prompted = expected("prompted");
  EXPECT_LE(difference(asked.values, prompted), 1e-5 * largest(prompted));
  EXPECT_GT(difference(asked.values, plain.values), 1e-2 * largest(theirs));
}

TEST_P(TinyEmbedder, a_text_has_the_same_bits_alone_and_in_one_step_with_all) {
  const Device device = open_device("cpu").value();
  auto embedder = Embedder::load(folder(), device).value();
  std::vector<std::string> texts;
  for (const std::string& text : texts_)
    if (text.size() < 100) texts.push_back(text);
  int64_t steps = 0;
  const auto count = [&](const EmbedProgress&) { return ++steps > 0; };
  const auto together = embedder.embed(texts, {.on_progress = count}).value();
  ASSERT_GE(texts.size(), 10U);
  EXPECT_EQ(steps, 1) << "the texts were not one step";
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto alone = embedder.embed({texts[i]}).value();
    EXPECT_TRUE(same_bits(alone[0], together[static_cast<int64_t>(i)])) << texts[i];
  }
  std::reverse(texts.begin(), texts.end());
  const auto reversed = embedder.embed(texts).value();
  for (int64_t i = 0; i < together.size(); ++i)
    EXPECT_TRUE(same_bits(reversed[together.size() - 1 - i], together[i]));
}

TEST_P(TinyEmbedder, every_instruction_set_and_number_of_threads_gives_the_same_bits) {
  std::vector<float> first;
  for (Isa isa : {Isa::reference, Isa::avx2, Isa::avx512}) {
    if (!cpu_has(isa)) continue;
    for (int threads : {1, 2, 3}) {
      const Device device = open_device("cpu", {.parallel = Threads(threads), .isa = isa}).value();
      auto embedder = Embedder::load(folder(), device).value();
      const auto vectors = embedder.embed(texts_).value();
      if (first.empty()) first = vectors.values;
      EXPECT_TRUE(same_bits(vectors.values, first))
          << threads << " threads, isa " << static_cast<int>(isa);
    }
  }
}

TEST_P(TinyEmbedder, a_gguf_file_gives_the_same_bits_where_the_files_say_the_same) {
  const Device device = open_device("cpu").value();
  auto from_folder = Embedder::load(folder(), device).value();
  auto from_gguf = Embedder::load(folder() + "/model.gguf", device).value();
  EXPECT_EQ(from_gguf.info().pooling, from_folder.info().pooling);
  EXPECT_TRUE(from_gguf.info().normalises);
  const EmbedOptions same{.max_tokens = 100, .normalise = true};
  const auto a = from_folder.embed(texts_, same).value();
  const auto b = from_gguf.embed(texts_, same).value();
  EXPECT_TRUE(same_bits(a.values, b.values));
  EXPECT_EQ(a.tokens, b.tokens);
}

TEST_P(TinyEmbedder, the_same_texts_again_take_no_more_memory) {
  const Device device = open_device("cpu").value();
  auto embedder = Embedder::load(folder(), device).value();
  embedder.embed(texts_).value();
  const auto allocations = [&] {
    return test::count_allocations([&] { embedder.embed(texts_).value(); });
  };
  const int64_t once = allocations();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(allocations(), once);
}

TEST_P(TinyEmbedder, no_texts_give_no_vectors) {
  const Device device = open_device("cpu").value();
  auto embedder = Embedder::load(folder(), device).value();
  const auto none = embedder.embed(std::span<const std::string>()).value();
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.dimension, embedder.info().dimension);
}

INSTANTIATE_TEST_SUITE_P(Models, TinyEmbedder, testing::ValuesIn(kModels),
                         [](const auto& given) { return test::case_name(given.param); });

TEST_F(EmbedFolder, an_encoder_writes_no_text) {
  const auto model = Model::load(folder_.string(), device_);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, Error::unsupported);
  EXPECT_THAT(model.error().message, HasSubstr("makes vectors of texts"));
  take("qwen3/embed");
  EXPECT_FALSE(Model::load(folder_.string(), device_));
}

TEST_F(EmbedFolder, a_default_prompt_is_used_unasked) {
  patch("config_sentence_transformers.json",
        R"({"prompts": {"sea": "the sea: "}, "default_prompt_name": "sea"})");
  auto embedder = load().value();
  const auto unasked = embedder.embed({"salt"}).value();
  const auto spelt = embedder.embed({"the sea: salt"}, {.prompt = ""}).value();
  const auto own = embedder.embed({"salt"}, {.prompt = "the sea: "}).value();
  const auto without = embedder.embed({"salt"}, {.prompt = ""}).value();
  EXPECT_TRUE(same_bits(unasked.values, spelt.values));
  EXPECT_TRUE(same_bits(unasked.values, own.values));
  EXPECT_FALSE(same_bits(unasked.values, without.values));
}

TEST_F(EmbedFolder, longer_texts_are_cut_and_it_is_said) {
  auto embedder = load().value();
  std::string words;
  for (int i = 0; i < 98; ++i) words += "sea ";
  const auto out = embedder.embed({words, words + "salt", "salt"}).value();
  EXPECT_EQ(out.tokens, (std::vector<int64_t>{100, 100, 3}));
  EXPECT_EQ(out.cut, (std::vector<bool>{false, true, false}));
  EXPECT_TRUE(same_bits(out[0], out[1]));
  const auto fewer = embedder.embed({"sea salt rain"}, {.max_tokens = 3}).value();
  EXPECT_TRUE(same_bits(fewer[0], embedder.embed({"sea"}).value()[0]));
}

TEST_F(EmbedFolder, what_looks_like_a_control_token_stays_text) {
  auto embedder = load().value();
  const auto out = embedder.embed({"the [SEP] sea", "the sea"}).value();
  EXPECT_EQ(out.tokens, (std::vector<int64_t>{11, 6}));  // t ##h ##e, [UNK], s ##e ##p, [UNK], sea
}

TEST_F(EmbedFolder, control_tokens_of_a_prompt_are_control_tokens) {
  auto embedder = load().value();
  const auto out = embedder.embed({"sea", "[SEP]"}, {.prompt = "[SEP] "}).value();
  EXPECT_EQ(out.tokens, (std::vector<int64_t>{4, 8}));  // the text's are [UNK], s ##e ##p, [UNK]
}

TEST_F(EmbedFolder, wrong_calls_are_errors) {
  auto embedder = load().value();
  const auto error = [&](std::string_view text, EmbedOptions options) {
    const auto out = embedder.embed({"fine", text}, options);
    EXPECT_FALSE(out);
    return out ? Error{} : out.error();
  };
  EXPECT_THAT(error("\xff", {}).message, HasSubstr("text 1: the text is not UTF-8"));
  EXPECT_EQ(error("a", {.prompt_name = "query"}).code, Error::invalid);
  EXPECT_THAT(error("a", {.max_tokens = 101}).message, HasSubstr("expected 1 to 100"));
  EXPECT_EQ(error("a", {.max_tokens = -1}).code, Error::invalid);
  EXPECT_THAT(error("a", {.max_tokens = 1}).message, HasSubstr("text 0: max_tokens is 1"));
  const auto cancel = [](const EmbedProgress&) { return false; };
  EXPECT_EQ(error("a", {.on_progress = cancel}).code, Error::cancelled);
  EXPECT_TRUE(embedder.embed({"fine"})) << "the embedder works on";
}

TEST_F(EmbedFolder, a_text_without_a_token_is_refused_by_its_number) {
  take("qwen3/embed");
  json tokenizer = read("tokenizer.json");
  tokenizer["post_processor"] = nullptr;
  write("tokenizer.json", tokenizer);
  auto embedder = load().value();
  const auto out = embedder.embed({"sea", ""});
  ASSERT_FALSE(out);
  EXPECT_THAT(out.error().message, HasSubstr("text 1 is empty"));
}

TEST_F(EmbedFolder, progress_counts_texts_between_steps) {
  auto embedder = load().value();
  const std::vector<std::string> texts(100, "sea salt river water stone rain day night");
  std::vector<int64_t> seen;
  embedder
      .embed(texts, {.on_progress =
                         [&](const EmbedProgress& progress) {
                           EXPECT_EQ(progress.total, 100);
                           seen.push_back(progress.texts);
                           return true;
                         }})
      .value();
  EXPECT_GE(seen.size(), 2U);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.front(), 0);
}

TEST_F(EmbedFolder, a_load_can_be_cancelled) {
  const auto loaded = Embedder::load(folder_.string(), device_,
                                     {.on_progress = [](const LoadProgress&) { return false; }});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Error::cancelled);
}

TEST_F(EmbedFolder, weights_that_give_no_numbers_are_refused) {
  const fs::path path = folder_ / "model.safetensors";
  const auto weights = Safetensors::open(path.string()).value();
  const TensorInfo* norm = weights.find("encoder.layer.1.output.LayerNorm.weight");
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(norm->offset_bytes);
  for (int i = 0; i < 48; ++i) file.write("\xff\xff\xff\x7f", 4);
  file.close();
  const auto loaded = load();
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("not finite"));
}

}  // namespace
}  // namespace mummu
