// The tiny encoders against transformers, layer by layer (golden/bert/VARIANT, made by
// tool/make_golden.py), in both formats and in company; and what a configuration is refused for.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/test_fixture.h"
#include "model/test/config.h"
#include "model/test_decoder.h"

namespace mummu {
namespace {

using nlohmann::json;
using test::ConfigRefusal;
using test::golden;
using test::read_all;
using testing::HasSubstr;

constexpr double kBound = 1e-4;  // of the largest activation of the same layer
// In the order of the golden file.
constexpr Pool kPools[] = {Pool::first, Pool::last,      Pool::largest,
                           Pool::mean,  Pool::mean_sqrt, Pool::weighted_mean};

struct Loaded {
  std::unique_ptr<Checkpoint> checkpoint = {};
  std::unique_ptr<Encoder> encoder = {};
};

Result<Loaded> load(const std::string& path, const Device& device) {
  Loaded loaded;
  MUMMU_TRY(auto checkpoint, open_checkpoint(path));
  loaded.checkpoint = std::make_unique<Checkpoint>(std::move(checkpoint));
  loaded.encoder = std::make_unique<Encoder>();
  WeightPlan plan(loaded.checkpoint->table(), loaded.checkpoint->format, device.ops());
  loaded.checkpoint->family->bind_encoder(loaded.checkpoint->config, plan, *loaded.encoder);
  MUMMU_TRY(plan.check());
  WeightLoad load(plan, device.ops());
  while (true) {
    MUMMU_TRY(const bool more, load.step());
    if (!more) return loaded;
  }
}

// What one step computes.
struct Values {
  std::vector<std::vector<float>> hidden;  // by layer: (tokens, hidden)
  std::vector<float> vectors;              // (sequences, hidden)
};

void keep(void* context, int64_t layer, View x) {
  auto& hidden = static_cast<Values*>(context)->hidden;
  hidden.resize(static_cast<size_t>(layer) + 1);
  hidden.back().assign(x.as<float>(), x.as<float>() + x.rows * x.columns);
}

Values run(const Encoder& encoder, Ops& ops, std::span<const TokenId> ids,
           std::span<const int64_t> lengths, Pool how) {
  auto state = encoder.make_state(ops, std::ssize(ids), std::ssize(lengths)).value();
  const Tensor out = ops.make(DType::f32, std::ssize(lengths), encoder.hidden).value();
  Values values;
  encoder.run(ops, state, ids, lengths, how, out.view(), keep, &values).value();
  values.vectors.resize(lengths.size() * static_cast<size_t>(encoder.hidden));
  ops.download(out.view(), values.vectors.data());
  return values;
}

double difference(std::span<const float> ours, std::span<const float> theirs) {
  double worst = 0, largest = 0;
  for (size_t i = 0; i < theirs.size(); ++i) {
    const double off = std::abs(static_cast<double>(ours[i]) - static_cast<double>(theirs[i]));
    worst = std::isnan(off) ? INFINITY : std::max(worst, off);
    largest = std::max(largest, std::abs(static_cast<double>(theirs[i])));
  }
  return worst / largest;
}

class Bert : public testing::TestWithParam<const char*> {
 protected:
  std::string folder() const { return golden(GetParam()); }

  Device device_ = open_device("cpu").value();
  Ops& ops_ = device_.ops();
  Safetensors expected_ = Safetensors::open(folder() + "/expected.safetensors").value();
  std::vector<int32_t> ids_ = read_all<int32_t>(expected_, "ids");
  std::vector<int32_t> lengths_ = read_all<int32_t>(expected_, "lengths");
};

TEST_P(Bert, layers_are_those_of_transformers) {
  const auto loaded = load(folder(), device_).value();
  const auto columns = static_cast<size_t>(loaded.encoder->hidden);
  double worst = 0;
  for (int64_t length : lengths_) {
    const auto ids = std::span(ids_).first(static_cast<size_t>(length));
    const Values values = run(*loaded.encoder, ops_, ids, {&length, 1}, Pool::mean);
    const auto rows = read_all<int32_t>(expected_, fmt::format("rows_{}", length));
    const auto hidden = read_all<float>(expected_, fmt::format("hidden_{}", length));
    ASSERT_EQ(hidden.size(), values.hidden.size() * rows.size() * columns);
    for (size_t layer = 0; layer < values.hidden.size(); ++layer) {
      std::vector<float> ours;
      for (int32_t row : rows) {
        const float* from = values.hidden[layer].data() + static_cast<size_t>(row) * columns;
        ours.insert(ours.end(), from, from + columns);
      }
      const double off =
          difference(ours, std::span(hidden).subspan(layer * ours.size(), ours.size()));
      EXPECT_LE(off, kBound) << "layer " << layer << " at length " << length;
      worst = std::max(worst, off);
    }
  }
  std::printf("%s: largest relative difference %.2g\n", GetParam(), worst);
}

TEST_P(Bert, every_way_of_pooling_is_that_of_the_reference) {
  const auto loaded = load(folder(), device_).value();
  const auto pooled = read_all<float>(expected_, "pooled");
  const auto columns = static_cast<size_t>(loaded.encoder->hidden);
  for (size_t i = 0; i < lengths_.size(); ++i)
    for (size_t how = 0; how < std::size(kPools); ++how) {
      const int64_t length = lengths_[i];
      const auto ids = std::span(ids_).first(static_cast<size_t>(length));
      const Values values = run(*loaded.encoder, ops_, ids, {&length, 1}, kPools[how]);
      const auto theirs =
          std::span(pooled).subspan((i * std::size(kPools) + how) * columns, columns);
      EXPECT_LE(difference(values.vectors, theirs), kBound)
          << "length " << length << " way " << how;
    }
}

TEST_P(Bert, gguf_and_safetensors_give_the_same_bits) {
  const auto a = load(folder(), device_).value();
  const auto b = load(folder() + "/model.gguf", device_).value();
  const int64_t length = std::ssize(ids_);
  const Values from_folder = run(*a.encoder, ops_, ids_, {&length, 1}, Pool::mean);
  const Values from_gguf = run(*b.encoder, ops_, ids_, {&length, 1}, Pool::mean);
  EXPECT_EQ(from_folder.hidden, from_gguf.hidden);
}

TEST_P(Bert, a_sequence_gives_the_same_bits_in_any_company) {
  const auto loaded = load(folder(), device_).value();
  const auto columns = static_cast<size_t>(loaded.encoder->hidden);
  std::vector<TokenId> ids;
  std::vector<int64_t> lengths;
  for (int64_t length : {17, 1, 16, 513, 2, 33, 15}) {
    ids.insert(ids.end(), ids_.begin(), ids_.begin() + length);
    lengths.push_back(length);
  }
  const Values together = run(*loaded.encoder, ops_, ids, lengths, Pool::mean);
  for (size_t i = 0; i < lengths.size(); ++i) {
    const auto alone_ids = std::span(ids_).first(static_cast<size_t>(lengths[i]));
    const Values alone = run(*loaded.encoder, ops_, alone_ids, {&lengths[i], 1}, Pool::mean);
    EXPECT_EQ(std::memcmp(alone.vectors.data(), together.vectors.data() + i * columns,
                          columns * sizeof(float)),
              0)
        << "length " << lengths[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Bert, testing::Values("bert/mean", "bert/whole"),
                         [](const auto& given) { return test::case_name(given.param); });

json plain() {
  return json::parse(R"({
    "model_type": "bert", "hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 3,
    "num_attention_heads": 3, "vocab_size": 100, "max_position_embeddings": 128,
    "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu"})");
}

TEST(BertConfig, a_plain_one_is_taken) {
  const auto config = test::read_config(plain());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->head_dim, 16);
  EXPECT_EQ(config->kv_heads, 3);
  EXPECT_EQ(config->token_types, 2);
}

class RefusedBert : public testing::TestWithParam<ConfigRefusal> {};

TEST_P(RefusedBert, says_what_is_wrong) {
  json config = plain();
  config.merge_patch(json::parse(GetParam().patch));
  test::expect_refused(config, GetParam());
}

constexpr ConfigRefusal kRefusals[] = {
    {R"({"hidden_act": "gelu_new"})", Error::unsupported, "hidden_act 'gelu_new'"},
    {R"({"hidden_act": "relu"})", Error::unsupported, "known is gelu"},
    {R"({"position_embedding_type": "relative_key"})", Error::unsupported, "relative_key"},
    {R"({"is_decoder": true})", Error::unsupported, "is_decoder"},
    {R"({"add_cross_attention": true})", Error::unsupported, "add_cross_attention"},
    {R"({"quantization_config": {"bits": 4}})", Error::unsupported, "quantization_config"},
    {R"({"num_attention_heads": 5})", Error::corrupt, "48 cannot be split over 5"},
    {R"({"num_attention_heads": 0})", Error::corrupt, "over 0 heads"},
    {R"({"num_hidden_layers": 0})", Error::corrupt, "layers is 0"},
    {R"({"type_vocab_size": 0})", Error::corrupt, "type_vocab_size is 0"},
    {R"({"type_vocab_size": -1})", Error::corrupt, "token types is -1"},
    {R"({"max_position_embeddings": 0})", Error::corrupt, "context length is 0"},
    {R"({"layer_norm_eps": 0})", Error::corrupt, "eps is 0"},
    {R"({"intermediate_size": -4})", Error::corrupt, "feed-forward size is -4"},
};

INSTANTIATE_TEST_SUITE_P(Keys, RefusedBert, testing::ValuesIn(kRefusals));

}  // namespace
}  // namespace mummu
