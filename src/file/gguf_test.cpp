#include "file/gguf.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/test_fixture.h"
#include "file/test_writer.h"

namespace mummu {
namespace {

using test::GgufParts;
using test::raw;
using test::raw_array;
using test::raw_entry;
using test::raw_string;
using test::raw_tensor;
using test::reader_of;
using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint32_t kF32 = 0, kQ4_1 = 3, kIQ2_XS = 17;

std::string bytes_of(const Gguf& gguf, std::string_view name) {
  const TensorInfo* tensor = gguf.find(name);
  if (tensor == nullptr) return "absent";
  std::string out(static_cast<size_t>(tensor->size_bytes), '\0');
  const auto result = gguf.read(*tensor, 0, std::as_writable_bytes(std::span(out)));
  return result ? out : result.error().message;
}

// One entry of every type, and arrays.
GgufParts all_types() {
  using enum GgufType;
  GgufParts parts;
  parts.entries = {
      raw_entry("u8", uint8, raw<uint8_t>(200)),
      raw_entry("i8", int8, raw<int8_t>(-5)),
      raw_entry("u16", uint16, raw<uint16_t>(60000)),
      raw_entry("i16", int16, raw<int16_t>(-300)),
      raw_entry("u32", uint32, raw<uint32_t>(4000000000)),
      raw_entry("i32", int32, raw<int32_t>(-70000)),
      raw_entry("f32", float32, raw(0.5F)),
      raw_entry("yes", boolean, raw<uint8_t>(1)),
      raw_entry("text", string, raw_string("hello")),
      raw_entry("u64", uint64, raw<uint64_t>(1)),
      raw_entry("u64 past int64", uint64, raw(uint64_t{1} << 63)),
      raw_entry("i64", int64, raw(std::numeric_limits<int64_t>::min())),
      raw_entry("f64", float64, raw(0.1)),
      raw_entry("strings", array,
                raw_array(string, 3, raw_string("") + raw_string("ab") + raw_string("c"))),
      raw_entry("i32s", array, raw_array(int32, 2, raw<int32_t>(7) + raw<int32_t>(-8))),
      raw_entry("bools", array, raw_array(boolean, 3, std::string("\1\0\1", 3))),
      raw_entry("u64s", array, raw_array(uint64, 1, raw(uint64_t{1} << 40))),
      raw_entry("f32s", array, raw_array(float32, 1, raw(1.5F))),
      raw_entry("f64s", array, raw_array(float64, 1, raw(2.5))),
      raw_entry("none", array, raw_array(float32, 0, "")),
      raw_entry("nested", array,
                raw_array(array, 2,
                          raw_array(string, 1, raw_string("x")) +
                              raw_array(array, 1, raw_array(uint8, 2, "ab")))),
  };
  return parts;
}

TEST(Gguf, gives_scalars_of_every_type) {
  const auto gguf = Gguf::open(reader_of(all_types().bytes()));
  ASSERT_TRUE(gguf) << gguf.error().message;
  const std::pair<const char*, int64_t> integers[] = {
      {"u8", 200},           {"i8", -5},      {"u16", 60000}, {"i16", -300},
      {"u32", 4000000000LL}, {"i32", -70000}, {"u64", 1},     {"i64", INT64_MIN}};
  for (const auto& [key, value] : integers) {
    EXPECT_EQ(gguf->get_i64(key).value(), value) << key;
    EXPECT_EQ(gguf->get_f64(key).value(), static_cast<double>(value)) << key;
  }
  EXPECT_EQ(gguf->get_f64("f32").value(), 0.5);
  EXPECT_EQ(gguf->get_f64("f64").value(), 0.1);
  EXPECT_EQ(gguf->get_bool("yes").value(), true);
  EXPECT_EQ(gguf->get_string("text").value(), "hello");
}

TEST(Gguf, gives_arrays) {
  const auto gguf = Gguf::open(reader_of(all_types().bytes()));
  ASSERT_TRUE(gguf) << gguf.error().message;
  const StringArray strings = gguf->get_strings("strings").value();
  ASSERT_EQ(strings.size(), 3);
  EXPECT_EQ(strings[0], "");
  EXPECT_EQ(strings[1], "ab");
  EXPECT_EQ(strings[2], "c");
  EXPECT_THAT(gguf->get_i32s("i32s").value(), ElementsAre(7, -8));
  EXPECT_THAT(gguf->get_i32s("bools").value(), ElementsAre(1, 0, 1));
  EXPECT_THAT(gguf->get_f32s("f32s").value(), ElementsAre(1.5F));
  EXPECT_THAT(gguf->get_f32s("f64s").value(), ElementsAre(2.5F));
  EXPECT_THAT(gguf->get_f32s("none").value(), ElementsAre());
  EXPECT_EQ(gguf->array_size("strings"), 3);
  EXPECT_EQ(gguf->array_size("text"), 0);
  EXPECT_TRUE(gguf->is_array("none"));
  EXPECT_FALSE(gguf->is_array("absent"));
}

TEST(Gguf, knows_types_and_keys_in_the_order_of_the_file) {
  const auto gguf = Gguf::open(reader_of(all_types().bytes()));
  ASSERT_TRUE(gguf);
  EXPECT_EQ(gguf->keys().size(), 21U);
  EXPECT_EQ(gguf->keys().front(), "u8");
  EXPECT_EQ(gguf->keys().back(), "nested");
  EXPECT_EQ(gguf->type_name("u32"), "uint32");
  EXPECT_EQ(gguf->type_name("nested"), "array of array");
  EXPECT_EQ(gguf->type_name("absent"), "");
  EXPECT_TRUE(gguf->has("text"));
  EXPECT_FALSE(gguf->has("tex"));
}

TEST(Gguf, an_absent_key_is_empty_to_find_and_an_error_to_get) {
  const auto gguf = Gguf::open(reader_of(all_types().bytes(), "m.gguf"));
  ASSERT_TRUE(gguf);
  EXPECT_EQ(gguf->find_i64("absent").value(), std::nullopt);
  EXPECT_EQ(gguf->find_string("absent").value(), std::nullopt);
  EXPECT_FALSE(gguf->find_strings("absent").value());
  const auto missing = gguf->get_f64("absent");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Error::corrupt);
  EXPECT_EQ(missing.error().message, "m.gguf: metadata key 'absent' is missing");
}

TEST(Gguf, a_value_of_another_type_is_an_error_that_names_both_types) {
  const auto gguf = Gguf::open(reader_of(all_types().bytes(), "m.gguf"));
  ASSERT_TRUE(gguf);
  EXPECT_EQ(gguf->get_string("u32").error().message,
            "m.gguf: metadata key 'u32' is uint32, expected string");
  EXPECT_FALSE(gguf->get_i64("f32"));
  EXPECT_FALSE(gguf->get_i64("yes"));
  EXPECT_FALSE(gguf->get_i64("i32s"));
  EXPECT_FALSE(gguf->get_i64("u64 past int64"));
  EXPECT_FALSE(gguf->get_f64("text"));
  EXPECT_FALSE(gguf->get_bool("u8"));
  EXPECT_FALSE(gguf->get_strings("text"));
  EXPECT_FALSE(gguf->get_i32s("u64s"));
  EXPECT_FALSE(gguf->get_i32s("nested"));
  EXPECT_FALSE(gguf->get_f32s("i32s"));
  EXPECT_FALSE(gguf->find_f32s("f32"));
}

TEST(Gguf, shapes_are_rows_by_columns_and_bytes_are_the_tensor_s_own) {
  GgufParts parts;
  parts.tensors = {raw_tensor("w", {32, 2}, kQ4_1, 64), raw_tensor("b", {3}, kF32, 0),
                   raw_tensor("odd", {256}, kIQ2_XS, 128), raw_tensor("one", {}, kF32, 32)};
  parts.data = std::string(12, 'b') + std::string(20, '-') + std::string(4, '1') +
               std::string(28, '-') + std::string(40, 'w') + std::string(24, '-') +
               std::string(74, 'o') + std::string(1000, '-');
  const auto gguf = Gguf::open(reader_of(parts.bytes()));
  ASSERT_TRUE(gguf) << gguf.error().message;
  ASSERT_EQ(gguf->tensors().size(), 4U);
  EXPECT_EQ(gguf->tensors()[0].name, "w");
  const TensorInfo& w = *gguf->find("w");
  EXPECT_THAT(w.shape, ElementsAre(2, 32));
  EXPECT_EQ(w.type, DType::q4_1);
  EXPECT_EQ(w.type_name, "Q4_1");
  EXPECT_EQ(w.elements(), 64);
  EXPECT_EQ(shape_text(w.shape), "(2, 32)");
  EXPECT_EQ(bytes_of(*gguf, "w"), std::string(40, 'w'));
  EXPECT_EQ(bytes_of(*gguf, "b"), std::string(12, 'b'));
  EXPECT_EQ(bytes_of(*gguf, "one"), std::string(4, '1'));
  EXPECT_EQ(bytes_of(*gguf, "odd"), std::string(74, 'o'));
  EXPECT_EQ(gguf->find("odd")->type, std::nullopt);
  EXPECT_EQ(gguf->find("odd")->type_name, "IQ2_XS");
  EXPECT_EQ(gguf->find("W"), nullptr);
}

TEST(Gguf, a_part_of_a_tensor_can_be_read_and_nothing_past_its_end) {
  GgufParts parts;
  parts.tensors = {raw_tensor("t", {2}, kF32, 0)};
  parts.data = "01234567and more";
  const auto gguf = Gguf::open(reader_of(parts.bytes()));
  ASSERT_TRUE(gguf);
  const TensorInfo& t = gguf->tensors()[0];
  std::string out(3, '\0');
  const auto bytes = std::as_writable_bytes(std::span(out));
  EXPECT_TRUE(gguf->read(t, 5, bytes));
  EXPECT_EQ(out, "567");
  for (int64_t offset : {int64_t{-1}, int64_t{6}, int64_t{9}, INT64_MAX}) {
    const auto result = gguf->read(t, offset, bytes);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Error::invalid);
  }
}

TEST(Gguf, odd_but_valid_files_open) {
  GgufParts version_2 = all_types();
  version_2.version = 2;
  GgufParts wide;
  wide.alignment = 4096;
  wide.entries = {raw_entry("general.alignment", GgufType::uint32, raw<uint32_t>(4096))};
  wide.tensors = {raw_tensor("a", {1}, kF32, 4096), raw_tensor("b", {1}, kF32, 0)};
  wide.data = std::string(4100, 'x');
  GgufParts narrow = wide;
  narrow.alignment = 8;
  narrow.entries = {raw_entry("general.alignment", GgufType::uint32, raw<uint32_t>(8))};
  narrow.tensors = {raw_tensor("a", {1}, kF32, 8), raw_tensor("b", {1}, kF32, 16)};
  GgufParts empty;
  empty.tensors = {raw_tensor("a", {0, 5}, kF32, 32), raw_tensor("b", {0}, kQ4_1, 32),
                   raw_tensor("c", {1}, kF32, 0)};
  empty.data = "1234";  // the padding after c is missing, though a and b begin behind it
  GgufParts unaligned_end;
  unaligned_end.alignment = 1;  // no tensors, and no padding either
  for (const GgufParts& parts : {version_2, wide, narrow, empty, unaligned_end}) {
    const auto gguf = Gguf::open(reader_of(parts.bytes()));
    ASSERT_TRUE(gguf) << gguf.error().message;
    EXPECT_EQ(gguf->version(), static_cast<int32_t>(parts.version));
    for (const TensorInfo& tensor : gguf->tensors()) {
      EXPECT_EQ(bytes_of(*gguf, tensor.name).size(), static_cast<size_t>(tensor.size_bytes));
    }
  }
}

TEST(Gguf, views_live_as_long_as_the_file_also_when_it_moves) {
  auto first = Gguf::open(reader_of(all_types().bytes()));
  ASSERT_TRUE(first);
  const std::string_view text = first->get_string("text").value();
  const StringArray strings = first->get_strings("strings").value();
  const Gguf moved = *std::move(first);
  EXPECT_EQ(text, "hello");
  EXPECT_EQ(strings[1], "ab");
  EXPECT_EQ(moved.get_string("text").value().data(), text.data());
}

TEST(Gguf, a_file_truncated_while_it_loads_is_corrupt) {
  GgufParts parts;
  parts.tensors = {raw_tensor("t", {1000}, kF32, 0)};
  parts.data = std::string(4000, 'x');
  const TempFolder folder;
  const std::string path = folder.write("m.gguf", parts.bytes());
  const auto gguf = Gguf::open(path);
  ASSERT_TRUE(gguf);
  ASSERT_EQ(::truncate(path.c_str(), 2000), 0);
  EXPECT_THAT(bytes_of(*gguf, "t"), HasSubstr("truncated while reading"));
}

TEST(Gguf, a_real_model_opens) {
  const std::string path = test::fixture("SmolLM2-135M-Instruct.Q4_1.gguf");
  MUMMU_NEEDS(path);
  const auto gguf = Gguf::open(path);
  ASSERT_TRUE(gguf) << gguf.error().message;
  EXPECT_EQ(gguf->tensors().size(), 272U);
  EXPECT_EQ(gguf->get_string("general.architecture").value(), "llama");
  EXPECT_EQ(gguf->get_i64("llama.block_count").value(), 30);
  EXPECT_EQ(gguf->get_f64("llama.rope.freq_base").value(), 100000);
  const StringArray tokens = gguf->get_strings("tokenizer.ggml.tokens").value();
  ASSERT_EQ(tokens.size(), 49152);
  EXPECT_EQ(tokens[1], "<|im_start|>");
  EXPECT_EQ(gguf->get_i32s("tokenizer.ggml.token_type").value().size(), 49152U);
  const TensorInfo* embedding = gguf->find("token_embd.weight");
  ASSERT_NE(embedding, nullptr);
  EXPECT_THAT(embedding->shape, ElementsAre(49152, 576));
}

}  // namespace
}  // namespace mummu
