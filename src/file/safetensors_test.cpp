#include "file/safetensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/test_fixture.h"
#include "file/test_writer.h"

namespace mummu {
namespace {

using test::reader_of;
using test::safetensors_bytes;
using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string bytes_of(const Safetensors& model, std::string_view name) {
  const TensorInfo* tensor = model.find(name);
  if (tensor == nullptr) return "absent";
  std::string out(static_cast<size_t>(tensor->size_bytes), '\0');
  const auto result = model.read(*tensor, 0, std::as_writable_bytes(std::span(out)));
  return result ? out : result.error().message;
}

TEST(Safetensors, gives_tensors_and_metadata) {
  const auto model = Safetensors::open(reader_of(safetensors_bytes(
      R"({"__metadata__":{"format":"pt","é":""},
          "w":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},
          "b":{"shape":[],"data_offsets":[0,4],"dtype":"F32"}})",
      "bbbbwwwwwwwwwwww")));
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->tensors().size(), 2U);
  const TensorInfo& w = *model->find("w");
  EXPECT_THAT(w.shape, ElementsAre(2, 3));
  EXPECT_EQ(w.type, DType::bf16);
  EXPECT_EQ(w.size_bytes, 12);
  EXPECT_EQ(bytes_of(*model, "w"), "wwwwwwwwwwww");
  EXPECT_EQ(bytes_of(*model, "b"), "bbbb");
  EXPECT_EQ(model->find("b")->elements(), 1);
  EXPECT_EQ(model->find("c"), nullptr);
  EXPECT_THAT(model->metadata(), ElementsAre(Pair("format", "pt"), Pair("é", "")));
}

TEST(Safetensors, records_types_that_we_do_not_compute_with_by_name) {
  const std::pair<const char*, int> types[] = {
      {"BOOL", 8}, {"I8", 8},   {"U16", 16},    {"I64", 64},    {"F64", 64},
      {"C64", 64}, {"U64", 64}, {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8},
      {"F4", 4},   {"U32", 32}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"I16", 16}};
  for (const auto& [name, bits] : types) {
    const int bytes = 4 * bits / 8;
    const auto model = Safetensors::open(reader_of(safetensors_bytes(
        fmt::format(R"({{"t":{{"dtype":"{}","shape":[4],"data_offsets":[0,{}]}}}})", name, bytes),
        std::string(static_cast<size_t>(bytes), 'x'))));
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(model->tensors()[0].type, std::nullopt);
    EXPECT_EQ(model->tensors()[0].type_name, name);
  }
}

TEST(Safetensors, odd_but_valid_files_open) {
  const std::string_view headers[] = {
      "{}",
      "{}          ",
      R"({"__metadata__":{}})",
      R"({"empty":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]}})",
      R"({"":{"dtype":"F32","shape":[1,0],"data_offsets":[0,0]}})",
  };
  for (std::string_view header : headers) {
    EXPECT_TRUE(Safetensors::open(reader_of(safetensors_bytes(header, "")))) << header;
  }
  // Empty tensors between others, tensors in any order, at odd addresses.
  const auto model = Safetensors::open(reader_of(safetensors_bytes(
      R"({"c":{"dtype":"F32","shape":[1],"data_offsets":[3,7]},
          "e":{"dtype":"F32","shape":[0],"data_offsets":[3,3]},
          "f":{"dtype":"F32","shape":[0],"data_offsets":[7,7]},
          "a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})",
      "aaacccc")));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(bytes_of(*model, "c"), "cccc");
  EXPECT_EQ(bytes_of(*model, "e"), "");
}

TEST(Safetensors, a_file_truncated_while_it_loads_is_corrupt) {
  const TempFolder folder;
  const std::string path = folder.write(
      "model.safetensors",
      safetensors_bytes(R"({"t":{"dtype":"U8","shape":[3000],"data_offsets":[0,3000]}})",
                        std::string(3000, 'x')));
  const auto model = Safetensors::open(path);
  ASSERT_TRUE(model);
  ASSERT_EQ(::truncate(path.c_str(), 2000), 0);
  EXPECT_THAT(bytes_of(*model, "t"), HasSubstr("truncated while reading"));
}

TEST(Safetensors, a_real_folder_opens) {
  const std::string path = test::fixture("all-MiniLM-L6-v2");
  MUMMU_NEEDS(path);
  const auto model = Safetensors::open(path);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->tensors().size(), 104U);
  EXPECT_THAT(model->find("embeddings.word_embeddings.weight")->shape, ElementsAre(30522, 384));
}

}  // namespace
}  // namespace mummu
