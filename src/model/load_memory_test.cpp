// What a load takes: the packed model and one tensor, whatever files it comes from; and nothing
// when it ends early.

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/sanitized.h"
#include "base/test_fixture.h"
#include "file/test_writer.h"
#include "model/test_decoder.h"
#include "mummu/model.h"

namespace mummu {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class LoadMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (test::kSanitized) GTEST_SKIP() << "skipped: a sanitizer's memory is not the model's";
  }
};

int64_t status_kib(const char* key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key)) return std::atoll(line.c_str() + std::strlen(key));
  return 0;
}

constexpr int64_t kOverhead = 16 << 20;  // metadata of the files, the allocator's own

int64_t open_files() {
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

void expect_a_small_peak(const std::string& path, std::optional<DType> quantise = {}) {
  const auto device = open_device("cpu").value();
  const int64_t before = status_kib("VmRSS:");
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts anew
  const auto loaded = test::load_decoder(path, device, quantise);
  ASSERT_TRUE(loaded) << loaded.error().message;
  int64_t packed = 0;
  int64_t largest = 0;
  for (const TensorInfo& tensor : loaded->checkpoint->table().tensors()) {
    const bool matrix = tensor.shape.size() == 2;
    packed += matrix ? device.ops().packed_bytes(quantise.value_or(*tensor.type), tensor.shape[0],
                                                 tensor.shape[1])
                     : tensor.size_bytes;
    largest = std::max(largest, tensor.size_bytes);
  }
  const int64_t peak = (status_kib("VmHWM:") - before) * 1024;
  std::printf("peak %.1f MB, packed %.1f MB, largest tensor %.1f MB\n",
              static_cast<double>(peak) / 1e6, static_cast<double>(packed) / 1e6,
              static_cast<double>(largest) / 1e6);
  EXPECT_LE(peak, packed + largest + kOverhead);
}

TEST_F(LoadMemory, the_peak_is_the_packed_model_and_one_tensor) {
  const std::string path = test::fixture("SmolLM2-135M-Instruct.Q4_1.gguf");
  MUMMU_NEEDS(path);
  expect_a_small_peak(path);
}

TEST_F(LoadMemory, the_peak_of_a_quantising_load_is_the_same) {
  const std::string path = test::fixture("smollm2-f32");
  if (!fs::exists(path))
    GTEST_SKIP() << "skipped: " << path
                 << " is missing; make it with tool/make_golden.py smollm2-f32";
  expect_a_small_peak(path, DType::q8_0);
}

// A mixture of experts in bf16 over several files, of zeros that take no room on the disk.
class SparseMixture {
 public:
  SparseMixture() {
    std::ofstream(folder_.path("config.json")) << json({{"model_type", "olmoe"},
                                                        {"hidden_size", kHidden},
                                                        {"intermediate_size", kFfn},
                                                        {"num_hidden_layers", kLayers},
                                                        {"num_attention_heads", 8},
                                                        {"vocab_size", kVocab},
                                                        {"max_position_embeddings", 64},
                                                        {"num_experts", kExperts},
                                                        {"num_experts_per_tok", 8}});
    open_shard();
    add("model.embed_tokens.weight", {kVocab, kHidden});
    add("lm_head.weight", {kVocab, kHidden});
    add("model.norm.weight", {kHidden});
    for (int64_t i = 0; i < kLayers; ++i) {
      close_shard();
      open_shard();
      add_layer("model.layers." + std::to_string(i) + ".");
    }
    close_shard();
    std::ofstream(folder_.path("model.safetensors.index.json")) << json({{"weight_map", shards_}});
  }

  std::string path() const { return folder_.path(); }

 private:
  static constexpr int64_t kHidden = 256, kFfn = 256, kLayers = 3, kExperts = 64, kVocab = 32000;

  void add_layer(const std::string& prefix) {
    for (const char* norm :
         {"input_layernorm", "post_attention_layernorm", "self_attn.q_norm", "self_attn.k_norm"})
      add(prefix + norm + ".weight", {kHidden});
    for (const char* part : {"q_proj", "k_proj", "v_proj", "o_proj"})
      add(prefix + "self_attn." + part + ".weight", {kHidden, kHidden});
    add(prefix + "mlp.gate.weight", {kExperts, kHidden});
    for (int64_t e = 0; e < kExperts; ++e)
      for (const char* part : {"gate_proj", "up_proj", "down_proj"})
        add(prefix + "mlp.experts." + std::to_string(e) + "." + part + ".weight", {kFfn, kHidden});
  }

  void add(const std::string& name, const std::vector<int64_t>& shape) {
    int64_t bytes = 2;
    for (int64_t dimension : shape) bytes *= dimension;
    header_[name] = {
        {"dtype", "BF16"}, {"shape", shape}, {"data_offsets", {offset_, offset_ + bytes}}};
    shards_[name] = shard_;
    offset_ += bytes;
  }
  void open_shard() {
    shard_ = "part" + std::to_string(number_++) + ".safetensors";
    header_ = json::object();
    offset_ = 0;
  }
  void close_shard() const {
    const auto path = folder_.write(shard_, test::safetensors_bytes(header_.dump(), {}));
    fs::resize_file(path, fs::file_size(path) + static_cast<uintmax_t>(offset_));
  }

  test::TempFolder folder_;
  std::string shard_;
  json header_, shards_;
  int64_t offset_ = 0;
  int number_ = 0;
};

TEST_F(LoadMemory, a_mixture_over_several_files_takes_no_more) {
  expect_a_small_peak(SparseMixture().path());
}

TEST_F(LoadMemory, a_configuration_that_claims_everything_takes_nothing) {
  const test::TempFolder folder;
  fs::copy(test::golden("olmoe/normed"), folder.path());
  fs::remove(folder.path("config.json"));
  json config = json::parse(std::ifstream(test::golden("olmoe/normed/config.json")));
  config["num_hidden_layers"] = 4096;
  config["num_experts"] = 16384;
  config["intermediate_size"] = 1 << 24;
  std::ofstream(folder.path("config.json")) << config;
  const auto device = open_device("cpu").value();
  const int64_t before = status_kib("VmRSS:");
  std::ofstream("/proc/self/clear_refs") << "5";
  EXPECT_FALSE(Model::inspect(folder.path(), device));
  EXPECT_LT((status_kib("VmHWM:") - before) * 1024, kOverhead);
}

TEST_F(LoadMemory, a_cancelled_load_leaves_nothing) {
  const SparseMixture mixture;
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"})
    fs::copy(test::golden("llama/gqa/") + name, mixture.path());
  const auto device = open_device("cpu").value();
  const int64_t files = open_files();
  const int64_t before = status_kib("VmRSS:");
  int64_t most = 0;
  const auto model =
      Model::load(mixture.path(), device, {.on_progress = [&](const LoadProgress& progress) {
                    most = std::max(most, status_kib("VmRSS:"));
                    return progress.bytes < progress.total / 2;
                  }});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, Error::cancelled) << model.error().message;
  EXPECT_GT((most - before) * 1024, 2 * kOverhead);
  EXPECT_LT((status_kib("VmRSS:") - before) * 1024, kOverhead);
  EXPECT_EQ(open_files(), files);
}

}  // namespace
}  // namespace mummu
