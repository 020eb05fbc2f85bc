// Models sharded over several safetensors files, and folders.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "file/safetensors.h"
#include "file/test_writer.h"

namespace mummu {
namespace {

using test::safetensors_bytes;
using test::TempFolder;
using testing::HasSubstr;

// A shard with one tensor of one byte.
std::string shard(std::string_view tensor, char byte) {
  return safetensors_bytes(
      fmt::format(R"({{"{}":{{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}}})", tensor),
      std::string(1, byte));
}

constexpr const char* kIndex = "model.safetensors.index.json";

// A folder with shards s1 (tensor a) and s2 (tensor b), and an index with this weight_map.
void write_model(const TempFolder& folder, std::string_view map = R"({"a":"s1","b":"s2"})") {
  folder.write("s1", shard("a", '1'));
  folder.write("s2", shard("b", '2'));
  folder.write(kIndex, fmt::format(R"({{"metadata":{{"total_size":2}},"weight_map":{}}})", map));
}

Error error_of(const Result<Safetensors>& model) { return model ? Error{} : model.error(); }

TEST(SafetensorsIndex, brings_all_shards_by_the_folder_or_by_the_index) {
  const TempFolder folder;
  write_model(folder);
  for (const std::string& path : {folder.path(), folder.path() + "/", folder.path(kIndex)}) {
    const auto model = Safetensors::open(path);
    ASSERT_TRUE(model) << model.error().message;
    ASSERT_EQ(model->tensors().size(), 2U);
    char byte = '?';
    ASSERT_TRUE(model->read(*model->find("b"), 0, std::as_writable_bytes(std::span(&byte, 1))));
    EXPECT_EQ(byte, '2');
    EXPECT_EQ(std::filesystem::path(model->table().path(*model->find("b"))).filename(), "s2");
  }
}

TEST(SafetensorsIndex, a_single_file_comes_before_an_index) {
  const TempFolder folder;
  write_model(folder);
  folder.write("model.safetensors", shard("alone", '0'));
  const auto model = Safetensors::open(folder.path());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_NE(model->find("alone"), nullptr);
  EXPECT_EQ(model->find("a"), nullptr);
}

TEST(SafetensorsIndex, a_folder_without_weights_says_what_it_looked_for) {
  const TempFolder folder;
  const Error error = error_of(Safetensors::open(folder.path()));
  EXPECT_EQ(error.code, Error::not_found);
  EXPECT_THAT(error.message, HasSubstr("neither model.safetensors nor"));
}

TEST(SafetensorsIndex, shard_names_that_leave_the_folder_are_refused) {
  const TempFolder folder;
  for (const char* name :
       {"../s1", "/etc/passwd", "sub/s1", "..", ".", "", "a\\\\b", "s1\\u0000"}) {
    write_model(folder, fmt::format(R"({{"a":"{}","b":"s2"}})", name));
    const Error error = error_of(Safetensors::open(folder.path()));
    EXPECT_EQ(error.code, Error::corrupt) << name;
    EXPECT_THAT(error.message, HasSubstr("is not the name of a file in that folder")) << name;
  }
}

TEST(SafetensorsIndex, links_to_shards_elsewhere_are_followed) {
  const TempFolder folder, elsewhere;
  write_model(folder);
  std::filesystem::remove(folder.path("s1"));
  std::filesystem::create_symlink(elsewhere.write("blob", shard("a", '1')), folder.path("s1"));
  EXPECT_TRUE(Safetensors::open(folder.path()));
}

TEST(SafetensorsIndex, a_missing_shard_is_named) {
  const TempFolder folder;
  write_model(folder);
  std::filesystem::remove(folder.path("s2"));
  const Error error = error_of(Safetensors::open(folder.path()));
  EXPECT_EQ(error.code, Error::not_found);
  EXPECT_THAT(error.message, HasSubstr(folder.path("s2")));
}

TEST(SafetensorsIndex, an_index_that_does_not_fit_its_shards_is_corrupt) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a":"s1","b":"s2","c":"s2"})", "tensor 'c' is not in 's2'"},
      {R"({"a":"s2","b":"s1"})", "tensor 'a' is not in 's2'"},
      {R"({"a":1})", "tensor 'a' is not given the name of a file"},
      {R"({})", "names 0 files"},
      {R"([])", "'weight_map': expected an object, found array"},
      {R"(null)", "'weight_map' is missing"},
      {R"({"a":"s1","a":"s2"})", "key 'a' is there twice"},
  };
  for (const auto& [map, message] : cases) {
    const TempFolder folder;
    write_model(folder, map);
    const Error error = error_of(Safetensors::open(folder.path()));
    EXPECT_EQ(error.code, Error::corrupt) << map;
    EXPECT_THAT(error.message, HasSubstr(message));
  }
}

TEST(SafetensorsIndex, two_shards_with_the_same_tensor_are_corrupt) {
  const TempFolder folder;
  write_model(folder, R"({"a":"s1","b":"s2","c":"s3"})");
  folder.write("s3", shard("a", '3'));
  const Error error = error_of(Safetensors::open(folder.path()));
  EXPECT_EQ(error.code, Error::corrupt);
  EXPECT_THAT(error.message, HasSubstr("s3: tensor 'a' is also in"));
}

TEST(SafetensorsIndex, a_shard_that_is_no_file_or_corrupt_is_named) {
  const TempFolder folder;
  write_model(folder);
  folder.write("s2", "text that is no tensors");
  EXPECT_THAT(error_of(Safetensors::open(folder.path())).message,
              HasSubstr("s2: not a safetensors"));
  std::filesystem::remove(folder.path("s2"));
  std::filesystem::create_directory(folder.path("s2"));
  EXPECT_THAT(error_of(Safetensors::open(folder.path())).message, HasSubstr("s2: is a folder"));
}

}  // namespace
}  // namespace mummu
