// Every family's tiny checkpoints through the front door: the engine gives the ids that
// transformers gives (golden/FAMILY/VARIANT), whatever the pieces and the company; and weights that
// are no numbers never become a token.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/test_fixture.h"
#include "file/safetensors.h"
#include "file/test_writer.h"
#include "mummu/generate.h"

namespace mummu::test {
namespace {

std::vector<TokenId> read_ids(const std::string& checkpoint, std::string_view name) {
  const auto file = Safetensors::open(golden(checkpoint) + "/expected.safetensors").value();
  const TensorInfo* tensor = file.find(name);
  std::vector<TokenId> ids(static_cast<size_t>(tensor->elements()));
  file.read(*tensor, 0, std::as_writable_bytes(std::span(ids))).value();
  return ids;
}

class Family : public testing::TestWithParam<const char*> {
 protected:
  Device device_ = open_device("cpu").value();
};

// The reference may pick rows of the embedding that are no token, and goes on after an end id; what
// comes before is compared.
std::vector<TokenId> until_it_ends(std::vector<TokenId> ids, const Model& model) {
  const auto ends = model.info().end_ids;
  const auto over = std::find_if(ids.begin(), ids.end(), [&](TokenId id) {
    return id >= model.tokenizer().vocab() || std::find(ends.begin(), ends.end(), id) != ends.end();
  });
  ids.erase(over, ids.end());
  return ids;
}

TEST_P(Family, answers_with_the_ids_of_transformers_in_any_pieces_and_company) {
  const auto model = Model::load(golden(GetParam()), device_).value();
  const auto prompt = read_ids(GetParam(), "prompt");
  const auto expected = until_it_ends(read_ids(GetParam(), "greedy"), model);
  ASSERT_FALSE(expected.empty());
  const RequestOptions greedy{.max_tokens = static_cast<int64_t>(expected.size())};
  uint64_t hash = 0;
  for (int64_t step_tokens : {0, 1, 5}) {
    Engine engine(model, {.context = 256, .kv = KvType::f32, .step_tokens = step_tokens});
    // A neighbour that begins alike, so that pages are shared.
    std::vector<TokenId> other = prompt;
    other.insert(other.end(), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    Generation neighbour(engine, complete(model, other, {.max_tokens = 40}).value());
    const auto done = generate(engine, complete(model, prompt, greedy).value());
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->ids, expected) << step_tokens;
    if (step_tokens == 0) hash = done->logits_hash;
    EXPECT_EQ(done->logits_hash, hash) << step_tokens;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Family,
                         testing::Values("llama/gqa", "llama/llama3", "llama/yarn", "qwen2/tied",
                                         "qwen2/sharded", "qwen3/wide", "lfm2/mixed", "lfm2/untied",
                                         "olmoe/top8", "olmoe/normed", "olmoe/tied"),
                         [](const auto& given) { return test::case_name(given.param); });

// The tiny checkpoint with NaN in the embedding of one token, which the check after a load does not
// see.
std::string with_a_broken_token(const TempFolder& folder, TokenId id) {
  for (const auto& entry : std::filesystem::directory_iterator(golden("llama/gqa")))
    std::filesystem::copy(entry.path(), folder.path());
  std::ifstream file(golden("llama/gqa/model.safetensors"), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const auto opened = Safetensors::open(golden("llama/gqa/model.safetensors")).value();
  const TensorInfo* embedding = opened.find("model.embed_tokens.weight");
  const auto row_bytes = embedding->shape[1] * static_cast<int64_t>(sizeof(float));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(bytes.data() + embedding->offset_bytes + id * row_bytes, &nan, sizeof nan);
  std::filesystem::remove(folder.path("model.safetensors"));
  folder.write("model.safetensors", bytes);
  return folder.path();
}

TEST(BrokenWeights, never_become_a_token) {
  const TempFolder folder;
  const auto device = open_device("cpu").value();
  const auto model = Model::load(with_a_broken_token(folder, 100), device).value();
  for (float temperature : {0.0F, 1.0F}) {
    Engine engine(model, {.context = 128});
    const RequestOptions options{.max_tokens = 8, .temperature = temperature};
    int64_t tokens = 0;
    const auto broken =
        generate(engine, complete(model, std::vector<TokenId>{1, 100, 2}, options).value(),
                 [&](const Token& token) {
                   tokens += static_cast<int64_t>(token.ids.size());
                   return Flow::go_on;
                 });
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().code, Error::corrupt) << broken.error().message;
    EXPECT_EQ(tokens, 0);
    const auto whole =
        generate(engine, complete(model, std::vector<TokenId>{1, 2, 3}, options).value());
    EXPECT_TRUE(whole) << whole.error().message;
  }
}

}  // namespace
}  // namespace mummu::test
