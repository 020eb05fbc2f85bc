// Models split over several GGUF files.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <optional>
#include <string>

#include "file/gguf.h"
#include "file/test_writer.h"

namespace mummu {
namespace {

using test::GgufParts;
using test::raw;
using test::raw_entry;
using test::raw_tensor;
using test::TempFolder;
using testing::HasSubstr;

struct PartOptions {
  uint16_t number = 0;  // from 0
  uint16_t count = 3;
  int32_t tensors = 3;    // in all parts
  std::string name = {};  // of its tensor; empty: t and the number
};

std::string part_bytes(const PartOptions& options) {
  GgufParts parts;
  parts.entries = {
      raw_entry("split.no", GgufType::uint16, raw(options.number)),
      raw_entry("split.count", GgufType::uint16, raw(options.count)),
      raw_entry("split.tensors.count", GgufType::int32, raw(options.tensors)),
  };
  if (options.number == 0) parts.entries.push_back(raw_entry("only.first", GgufType::uint8, "x"));
  const std::string name = options.name.empty() ? fmt::format("t{}", options.number) : options.name;
  parts.tensors = {raw_tensor(name, {2}, 0, 0)};
  parts.data = std::string(8, static_cast<char>('0' + options.number));
  return parts.bytes();
}

std::string part_name(int number) { return fmt::format("m-{:05}-of-00003.gguf", number + 1); }

// The three parts of a good model.
void write_parts(const TempFolder& folder) {
  for (uint16_t i = 0; i < 3; ++i) folder.write(part_name(i), part_bytes({.number = i}));
}

Error error_of(const Result<Gguf>& gguf) { return gguf ? Error{} : gguf.error(); }

TEST(GgufSplit, the_first_part_brings_the_others) {
  const TempFolder folder;
  write_parts(folder);
  const auto gguf = Gguf::open(folder.path(part_name(0)));
  ASSERT_TRUE(gguf) << gguf.error().message;
  ASSERT_EQ(gguf->tensors().size(), 3U);
  EXPECT_EQ(gguf->table().files().size(), 3U);
  EXPECT_TRUE(gguf->has("only.first"));
  for (int i = 0; i < 3; ++i) {
    const TensorInfo* tensor = gguf->find(fmt::format("t{}", i));
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->file_index, i);
    EXPECT_EQ(gguf->table().path(*tensor), folder.path(part_name(i)));
    std::string out(8, '\0');
    ASSERT_TRUE(gguf->read(*tensor, 0, std::as_writable_bytes(std::span(out))));
    EXPECT_EQ(out, std::string(8, static_cast<char>('0' + i)));
  }
}

TEST(GgufSplit, a_model_of_one_part_needs_no_special_name) {
  const TempFolder folder;
  const auto bytes = part_bytes({.count = 1, .tensors = 1});
  EXPECT_TRUE(Gguf::open(folder.write("m.gguf", bytes)));
}

TEST(GgufSplit, a_missing_part_is_named) {
  const TempFolder folder;
  write_parts(folder);
  std::filesystem::remove(folder.path(part_name(1)));
  const Error error = error_of(Gguf::open(folder.path(part_name(0))));
  EXPECT_EQ(error.code, Error::not_found);
  EXPECT_THAT(error.message, HasSubstr("m-00002-of-00003.gguf"));
}

TEST(GgufSplit, another_part_than_the_first_says_which_to_open) {
  const TempFolder folder;
  write_parts(folder);
  const Error error = error_of(Gguf::open(folder.path(part_name(2))));
  EXPECT_EQ(error.code, Error::invalid);
  EXPECT_THAT(error.message, HasSubstr("is part 3 of a model split into 3; open the first, "));
  EXPECT_THAT(error.message, HasSubstr("m-00001-of-00003.gguf"));
}

TEST(GgufSplit, a_renamed_part_says_what_its_name_must_be) {
  const TempFolder folder;
  const Error error = error_of(Gguf::open(folder.write("renamed.gguf", part_bytes({}))));
  EXPECT_EQ(error.code, Error::invalid);
  EXPECT_THAT(error.message, HasSubstr("must end in -00001-of-00003.gguf"));
}

TEST(GgufSplit, parts_that_do_not_belong_together_are_corrupt) {
  const std::pair<PartOptions, const char*> cases[] = {
      {{.number = 2}, "says that it is part 3 of 3, expected part 2 of 3"},
      {{.number = 1, .count = 4}, "says that it is part 2 of 4"},
      {{.number = 3}, "split.no is 3, split.count is 3"},
      {{.number = 1, .name = "t0"}, "tensor 't0' is also in"},
  };
  for (const auto& [options, message] : cases) {
    const TempFolder folder;
    write_parts(folder);
    folder.write(part_name(1), part_bytes(options));
    const Error error = error_of(Gguf::open(folder.path(part_name(0))));
    EXPECT_EQ(error.code, Error::corrupt);
    EXPECT_THAT(error.message, HasSubstr(message));
    EXPECT_THAT(error.message, HasSubstr(part_name(1)));
  }
}

TEST(GgufSplit, counts_that_cannot_be_are_corrupt) {
  const std::pair<PartOptions, const char*> cases[] = {
      {{.tensors = 4}, "split.tensors.count is 4, the parts have 3 tensors"},
      {{.tensors = -1}, "'split.tensors.count' is no count"},
      {{.count = 65535}, "split.count is 65535, at most 512"},
  };
  for (const auto& [options, message] : cases) {
    const TempFolder folder;
    write_parts(folder);
    folder.write(part_name(0), part_bytes(options));
    const Error error = error_of(Gguf::open(folder.path(part_name(0))));
    EXPECT_EQ(error.code, Error::corrupt);
    EXPECT_THAT(error.message, HasSubstr(message));
  }
}

TEST(GgufSplit, a_truncated_part_is_named) {
  const TempFolder folder;
  write_parts(folder);
  const std::string bytes = part_bytes({.number = 2});
  folder.write(part_name(2), bytes.substr(0, bytes.size() - 1));
  const Error error = error_of(Gguf::open(folder.path(part_name(0))));
  EXPECT_EQ(error.code, Error::corrupt);
  EXPECT_THAT(error.message, HasSubstr("m-00003-of-00003.gguf: tensor 't2'"));
}

}  // namespace
}  // namespace mummu
