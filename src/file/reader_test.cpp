#include "file/reader.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "file/quote.h"
#include "file/test_writer.h"

namespace mummu {
namespace {

using test::reader_of;
using test::TempFolder;
using testing::HasSubstr;

std::string read_text(const FileReader& file, int64_t offset, size_t size) {
  std::string text(size, '?');
  const auto result = file.read(offset, std::as_writable_bytes(std::span(text)));
  return result ? text : result.error().message;
}

TEST(FileReader, reads_any_range_of_a_file_and_of_bytes_in_memory) {
  const TempFolder folder;
  const auto file = FileReader::open(folder.write("a", "0123456789"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->size(), 10);
  EXPECT_EQ(file->path(), folder.path("a"));
  const FileReader memory = reader_of("0123456789");
  for (const FileReader* reader : {&*file, &memory}) {
    EXPECT_EQ(read_text(*reader, 0, 10), "0123456789");
    EXPECT_EQ(read_text(*reader, 7, 3), "789");
    EXPECT_EQ(read_text(*reader, 10, 0), "");
  }
}

TEST(FileReader, a_read_past_the_end_is_corrupt_and_says_where) {
  const TempFolder folder;
  const auto file = FileReader::open(folder.write("a", "0123456789"));
  ASSERT_TRUE(file);
  const FileReader memory = reader_of("0123456789");
  for (const FileReader* reader : {&*file, &memory}) {
    std::array<std::byte, 4> out = {};
    const auto result = reader->read(8, out);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Error::corrupt);
    EXPECT_EQ(result.error().message, reader->path() +
                                          ": truncated while reading: 4 bytes wanted at byte 8, "
                                          "the file ends at byte 10");
    EXPECT_FALSE(reader->read(INT64_MAX, out));
  }
}

TEST(FileReader, a_file_truncated_after_opening_is_corrupt_and_no_signal) {
  const TempFolder folder;
  const std::string path = folder.write("a", std::string(100'000, 'x'));
  const auto file = FileReader::open(path);
  ASSERT_TRUE(file);
  ASSERT_EQ(::truncate(path.c_str(), 50'000), 0);
  EXPECT_EQ(read_text(*file, 0, 4), "xxxx");
  std::string text(100'000, '\0');
  const auto result = file->read(0, std::as_writable_bytes(std::span(text)));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Error::corrupt);
  EXPECT_THAT(result.error().message, HasSubstr("the file ends at byte 50000"));
}

TEST(FileReader, moves_and_keeps_reading) {
  const TempFolder folder;
  auto first = FileReader::open(folder.write("a", "first"));
  auto second = FileReader::open(folder.write("b", "second"));
  ASSERT_TRUE(first && second);
  FileReader moved = *std::move(first);
  EXPECT_EQ(read_text(moved, 0, 5), "first");
  moved = *std::move(second);
  EXPECT_EQ(read_text(moved, 0, 6), "second");
  EXPECT_EQ(moved.path(), folder.path("b"));
}

TEST(FileReader, opens_regular_files_only_and_never_waits_for_a_pipe) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  const std::pair<std::string, std::string> cases[] = {{folder.path(), "is a folder"},
                                                       {folder.path("pipe"), "is a pipe"},
                                                       {"/dev/null", "is a device"},
                                                       {std::string("a\0b", 3), "zero byte"}};
  for (const auto& [path, message] : cases) {
    const auto file = FileReader::open(path);
    ASSERT_FALSE(file) << path;
    EXPECT_EQ(file.error().code, Error::invalid);
    EXPECT_THAT(file.error().message, HasSubstr(message));
  }
}

TEST(FileReader, an_absent_file_is_not_found_and_follows_links) {
  const TempFolder folder;
  for (const std::string& path :
       {folder.path("no"), folder.write("a", "x") + "/below", std::string()}) {
    const auto file = FileReader::open(path);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, Error::not_found);
    EXPECT_THAT(file.error().message, HasSubstr("cannot be opened"));
  }
  std::filesystem::create_symlink("a", folder.path("link"));
  EXPECT_TRUE(FileReader::open(folder.path("link")));
}

TEST(Quote, shows_the_text_of_strangers_on_one_short_line) {
  EXPECT_EQ(quote("blk.0.attn_q"), "'blk.0.attn_q'");
  EXPECT_EQ(quote("a\n'\\\x1b\xff"), "'a\\x0a\\x27\\x5c\\x1b\\xff'");
  EXPECT_EQ(quote(std::string(81, 'a')), "'" + std::string(80, 'a') + "'...");
}

}  // namespace
}  // namespace mummu
