// Loading as one act: what is checked, what it costs, and how it ends.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "model/test/checkpoint.h"

namespace mummu {
namespace {

namespace fs = std::filesystem;
using test::read_text;
using test::write_text;
using testing::HasSubstr;

using Load = test::CheckpointTest;

TEST_F(Load, a_folder_and_a_gguf_file_of_the_same_weights_say_the_same_of_themselves) {
  const auto from_folder = Model::load(folder_.string(), device_);
  ASSERT_TRUE(from_folder) << from_folder.error().message;
  const auto from_gguf = Model::load(gguf(), device_);
  ASSERT_TRUE(from_gguf) << from_gguf.error().message;
  const ModelInfo& a = from_folder->info();
  const ModelInfo& b = from_gguf->info();
  EXPECT_EQ(a.format, "safetensors");
  EXPECT_EQ(b.format, "gguf");
  for (const ModelInfo* info : {&a, &b}) {
    EXPECT_EQ(info->architecture, "llama");
    EXPECT_EQ(info->weight_types, "F32");
    EXPECT_EQ(info->layers, 3);
    EXPECT_EQ(info->hidden, 48);
    EXPECT_EQ(info->vocab, 288);
    EXPECT_EQ(info->context, 2048);
    EXPECT_EQ(info->parameters, a.parameters);
    EXPECT_EQ(info->packed_bytes, a.packed_bytes);
    EXPECT_EQ(info->kv_bytes_per_token, 3 * 2 * 16 * 2);
    EXPECT_TRUE(info->has_chat_template);
    EXPECT_THAT(info->end_ids, testing::Contains(279));
  }
}

TEST_F(Load, a_token_reads_neither_a_table_nor_experts_that_it_does_not_choose) {
  const auto unread = [&](const char* folder) {
    const ModelInfo info = Model::inspect(test::golden(folder), device_).value();
    return info.packed_bytes - info.read_bytes_per_token;
  };
  EXPECT_EQ(unread("qwen2/tied"), 0);
  EXPECT_EQ(unread("llama/gqa"), 288 * 48 * 4);
  const int64_t expert = 3 * 16 * 32 * 4;
  EXPECT_EQ(unread("olmoe/top8"), 2 * (64 - 8) * expert + 288 * 32 * 4);
}

TEST_F(Load, inspect_says_what_load_will_find) {
  const auto info = Model::inspect(gguf(), device_);
  ASSERT_TRUE(info) << info.error().message;
  const auto model = Model::load(gguf(), device_);
  ASSERT_TRUE(model);
  EXPECT_EQ(info->packed_bytes, model->info().packed_bytes);
  EXPECT_EQ(info->parameters, model->info().parameters);
  EXPECT_EQ(info->end_ids, model->info().end_ids);
}

TEST_F(Load, a_safetensors_file_finds_its_configuration_beside_it) {
  const auto model = Model::load((folder_ / "model.safetensors").string(), device_);
  EXPECT_TRUE(model) << model.error().message;
}

TEST_F(Load, progress_goes_up_to_the_whole_and_may_cancel) {
  std::vector<int64_t> bytes;
  int64_t total = 0;
  const auto all = Model::load(gguf(), device_, {.on_progress = [&](const LoadProgress& progress) {
                                 bytes.push_back(progress.bytes);
                                 total = progress.total;
                                 return true;
                               }});
  ASSERT_TRUE(all);
  EXPECT_TRUE(std::is_sorted(bytes.begin(), bytes.end()));
  EXPECT_EQ(bytes.front(), 0);
  EXPECT_EQ(bytes.back(), total);
  EXPECT_EQ(total, all->info().file_bytes);

  int calls = 0;
  const auto some = Model::load(gguf(), device_,
                                {.on_progress = [&](const LoadProgress&) { return ++calls < 4; }});
  ASSERT_FALSE(some);
  EXPECT_EQ(some.error().code, Error::cancelled);
  EXPECT_EQ(calls, 4);
}

TEST_F(Load, nothing_there_is_not_found) {
  EXPECT_EQ(refusal((folder_ / "absent").string()).code, Error::not_found);
  EXPECT_EQ(refusal((folder_ / "absent.gguf").string()).code, Error::not_found);
}

TEST_F(Load, a_folder_without_weights_is_not_found) {
  fs::remove(folder_ / "model.safetensors");
  const Error error = refusal(folder_.string());
  EXPECT_EQ(error.code, Error::not_found);
  EXPECT_THAT(error.message, HasSubstr("model.safetensors"));
}

TEST_F(Load, a_folder_without_configuration_is_not_found) {
  fs::remove(folder_ / "config.json");
  fs::remove(folder_ / "model.gguf");
  const Error error = refusal(folder_.string());
  EXPECT_EQ(error.code, Error::not_found);
  EXPECT_THAT(error.message, HasSubstr("config.json"));
}

TEST_F(Load, a_folder_without_tokenizer_is_refused) {
  fs::remove(folder_ / "tokenizer.json");
  EXPECT_THAT(refusal(folder_.string()).message, HasSubstr("tokenizer.json"));
}

TEST_F(Load, a_text_file_is_corrupt) {
  write_text(gguf(), "this is no model\n");
  EXPECT_EQ(refusal(gguf()).code, Error::corrupt);
}

TEST_F(Load, a_truncated_file_is_corrupt) {
  fs::resize_file(gguf(), fs::file_size(gguf()) - 1000);
  EXPECT_EQ(refusal(gguf()).code, Error::corrupt);
}

TEST_F(Load, a_file_that_shrinks_while_it_loads_is_corrupt) {
  const auto model =
      Model::load(gguf(), device_, {.on_progress = [&](const LoadProgress& progress) {
                    if (progress.bytes == 0) fs::resize_file(gguf(), fs::file_size(gguf()) / 2);
                    return true;
                  }});
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, Error::corrupt);
}

TEST_F(Load, an_unknown_architecture_is_named_and_the_known_are_listed) {
  change("config.json", "\"model_type\": \"llama\"", "\"model_type\": \"mamba\"");
  const Error error = refusal(folder_.string());
  EXPECT_EQ(error.code, Error::unsupported);
  EXPECT_THAT(error.message, HasSubstr("'mamba'"));
  EXPECT_THAT(error.message, HasSubstr("llama"));
}

TEST_F(Load, a_renamed_tensor_is_missing_and_unknown_in_one_error) {
  change("model.gguf", "blk.1.attn_q.weight", "blk.1.attn_x.weight");
  const Error error = refusal(gguf());
  EXPECT_EQ(error.code, Error::corrupt);
  EXPECT_THAT(error.message, HasSubstr("missing tensors: blk.1.attn_q.weight"));
  EXPECT_THAT(error.message, HasSubstr("blk.1.attn_x.weight"));
}

TEST_F(Load, another_size_in_the_configuration_is_a_list_of_misshapen_tensors) {
  change("config.json", "\"intermediate_size\": 96", "\"intermediate_size\": 80");
  const Error error = refusal(folder_.string());
  EXPECT_EQ(error.code, Error::corrupt);
  EXPECT_THAT(error.message, HasSubstr("mlp.gate_proj.weight is (96, 48), expected (80, 48)"));
  EXPECT_THAT(error.message, HasSubstr("model.layers.2.mlp.down_proj.weight"));
}

TEST_F(Load, end_ids_that_have_none_in_common_are_refused) {
  change("generation_config.json", "\"eos_token_id\": 279", "\"eos_token_id\": 3");
  const Error error = refusal(folder_.string());
  EXPECT_EQ(error.code, Error::corrupt);
  EXPECT_THAT(error.message, HasSubstr("eos_token_id 3 against 279"));
}

TEST_F(Load, more_end_ids_of_the_generation_configuration_are_kept) {
  change("generation_config.json", "\"eos_token_id\": 279", "\"eos_token_id\": [279, 277]");
  const auto model = Model::load(folder_.string(), device_);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT(model->info().end_ids, testing::UnorderedElementsAre(279, 277));
}

TEST_F(Load, a_tokenizer_with_more_tokens_than_the_embedding_has_rows_is_refused) {
  change("tokenizer.json", "\"id\": 279", "\"id\": 300");
  const auto model = Model::load(folder_.string(), device_);
  EXPECT_FALSE(model);
}

// Overwrites the payload of the last tensor of the safetensors file with one f32 value.
void fill_weights(const fs::path& path, float value) {
  std::string text = read_text(path);
  uint64_t header = 0;
  std::memcpy(&header, text.data(), sizeof header);
  for (size_t at = 8 + header; at + sizeof value <= text.size(); at += sizeof value)
    std::memcpy(text.data() + at, &value, sizeof value);
  write_text(path, text);
}

TEST_F(Load, weights_that_are_no_numbers_are_found_by_trying_the_model) {
  fill_weights(folder_ / "model.safetensors", std::numeric_limits<float>::quiet_NaN());
  const Error error = refusal(folder_.string());
  EXPECT_EQ(error.code, Error::corrupt);
  EXPECT_THAT(error.message, HasSubstr("not finite"));
}

TEST_F(Load, weights_that_are_all_zero_are_found_by_trying_the_model) {
  fill_weights(folder_ / "model.safetensors", 0);
  const Error error = refusal(folder_.string());
  EXPECT_EQ(error.code, Error::corrupt);
  EXPECT_THAT(error.message, HasSubstr("same number"));
}

}  // namespace
}  // namespace mummu
