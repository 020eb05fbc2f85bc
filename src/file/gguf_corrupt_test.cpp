// GGUF files that are wrong in one place each: one error that says what and where, and never more
// than that.

#include <gmock/gmock.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "file/gguf.h"
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
using testing::HasSubstr;

constexpr uint32_t kF32 = 0, kQ4_0 = 2;
constexpr uint64_t kHuge = uint64_t{1} << 62;

GgufParts with_entries(std::vector<std::string> entries) {
  GgufParts parts;
  parts.entries = std::move(entries);
  return parts;
}

GgufParts with_tensors(std::vector<std::string> tensors, size_t data_bytes) {
  GgufParts parts;
  parts.tensors = std::move(tensors);
  parts.data = std::string(data_bytes, 'x');
  return parts;
}

std::string entry(GgufType type, const std::string& value) { return raw_entry("k", type, value); }

std::string alignment(GgufType type, const std::string& value) {
  return raw_entry("general.alignment", type, value);
}

// An array of one array of one array ... of `depth` arrays in all.
std::string nested(int depth) {
  std::string value;
  for (int i = 1; i < depth; ++i) value += raw_array(GgufType::array, 1, "");
  return value + raw_array(GgufType::uint8, 1, "x");
}

struct Case {
  const char* name;
  std::string bytes;
  const char* message;  // a part of it
  Error::Code code = Error::corrupt;
};

std::vector<Case> header_cases() {
  GgufParts magic, version_0, version_1, version_4, big_endian, keys, many_keys, tensors,
      many_tensors;
  magic.magic = "GGML";
  version_0.version = 0;
  version_1.version = 1;
  version_4.version = 4;
  big_endian.version = 0x03000000;
  keys.key_count = 4;
  many_keys.key_count = UINT64_MAX;
  tensors.tensor_count = 1;
  many_tensors.tensor_count = uint64_t{1} << 32;
  return {
      {"empty", "", "is empty"},
      {"short", "GG", "not a GGUF file: it starts with 'GG'"},
      {"text", "hello, this is a text file", "starts with 'hello, t'"},
      {"lfs pointer", "version https://git-lfs.github.com/spec/v1\noid", "Git LFS pointer"},
      {"other magic", magic.bytes(), "starts with 'GGML"},
      {"no version", "GGUF\3", "truncated: the version at byte 4 needs 4 bytes"},
      {"version 0", version_0.bytes(), "version 0 is not supported", Error::unsupported},
      {"version 1", version_1.bytes(), "version 1 is not supported", Error::unsupported},
      {"version 4", version_4.bytes(), "version 4 is not supported", Error::unsupported},
      {"big-endian", big_endian.bytes(), "big-endian", Error::unsupported},
      {"no counts", GgufParts().bytes().substr(0, 20), "truncated: the number of metadata keys"},
      {"more keys than bytes", keys.bytes(), "the number of metadata keys is 4, more than"},
      {"absurdly many keys", many_keys.bytes(), "is 18446744073709551615, at most 65536"},
      {"a tensor too many", tensors.bytes().substr(0, 24), "tensors is 1, more than a file of 24"},
      {"absurdly many tensors", many_tensors.bytes(), "at most 524288 are allowed"},
  };
}

std::vector<Case> metadata_cases() {
  using enum GgufType;
  const std::string long_key = raw<uint64_t>(70000) + std::string(80000, 'k');
  const std::string huge = raw(kHuge), most = raw(UINT64_MAX);
  const std::string element = raw_array(array, 1, raw_array(array, 2, nested(1)));
  const auto bytes = [](const std::string& one) { return with_entries({one}).bytes(); };
  const auto type = [](uint32_t number) { return static_cast<GgufType>(number); };
  return {
      {"empty key", bytes(raw_entry("", uint8, "x")), "a metadata key at byte 24 has 0 bytes"},
      {"long key", bytes(long_key), "has 70000 bytes, 1 to 65535"},
      {"huge key", bytes(huge + "key"), "1 to 65535"},
      {"cut key", bytes(raw<uint64_t>(60) + "key"), "truncated: a metadata key at byte 32"},
      {"unknown type", bytes(entry(type(13), "x")), "the type of key 'k' is 13"},
      {"type of -1", bytes(entry(type(UINT32_MAX), "x")), "is 4294967295, which is no GGUF type"},
      {"bool of 2", bytes(entry(boolean, "\2")), "holds the bool 2"},
      {"bool of 255 in an array", bytes(entry(array, raw_array(boolean, 2, "\1\xff"))), "bool 255"},
      {"cut value", bytes(entry(float64, "x")).substr(0, 40), "the value of key 'k' at byte 37"},
      {"cut string", bytes(entry(string, raw<uint64_t>(100) + "x")), "string 'k' is 100, more"},
      {"huge string", bytes(entry(string, most + "x")), "is 18446744073709551615, more than"},
      {"huge array", bytes(entry(array, raw_array(uint8, kHuge, "x"))), "the size of array 'k'"},
      {"array whose bytes overflow", bytes(entry(array, raw_array(uint64, kHuge / 2, "x"))),
       "more"},
      {"array one too long", bytes(entry(array, raw_array(uint16, 20, "xx"))), "is 20, more than"},
      {"array of unknown type", bytes(entry(array, raw_array(type(99), 1, "x"))), "is 99"},
      {"huge array of strings", bytes(entry(array, raw_array(string, kHuge, "x"))), "more than"},
      {"cut string in an array", bytes(entry(array, raw_array(string, 1, raw<uint64_t>(99)))),
       "the length of a string of array 'k' is 99"},
      {"no type of an array", bytes(entry(array, "")).substr(0, 37), "the element type of array"},
      {"huge array of arrays", bytes(entry(array, raw_array(array, kHuge, "x"))), "more than"},
      {"arrays nested deeply", bytes(entry(array, nested(5))), "deeper than 4"},
      {"arrays nested absurdly", bytes(entry(array, nested(100'000))), "deeper than 4"},
      {"cut inner array", bytes(entry(array, element)).substr(0, 74),
       "is 2, more than the 13 bytes left"},
      {"huge inner array", bytes(entry(array, raw_array(array, 1, raw_array(int8, kHuge, "x")))),
       "more than"},
      {"duplicate key", with_entries({entry(uint8, "x"), entry(int8, "y")}).bytes(),
       "two metadata keys are named 'k'"},
  };
}

std::vector<Case> alignment_cases() {
  using enum GgufType;
  std::vector<Case> cases = {
      {"alignment of a string", with_entries({alignment(string, raw_string("32"))}).bytes(),
       "general.alignment is string, expected uint32"},
      {"alignment of another integer", with_entries({alignment(uint64, raw<uint64_t>(32))}).bytes(),
       "is uint64"},
      {"alignment of an array",
       with_entries({alignment(array, raw_array(uint32, 1, raw<uint32_t>(32)))}).bytes(),
       "is array of uint32"},
  };
  for (uint32_t number : {0U, 1U, 4U, 12U, 33U, 0xffffffffU}) {
    cases.push_back({"alignment of a wrong number",
                     with_entries({alignment(uint32, raw(number))}).bytes(),
                     "expected a power of two from 8 on"});
  }
  return cases;
}

std::vector<Case> tensor_cases() {
  const auto bytes = [](const std::string& one) { return with_tensors({one}, 64).bytes(); };
  const std::string good = raw_tensor("t", {4}, kF32, 0);
  const std::string five = raw_tensor("t", {1, 1, 1, 1, 1}, kF32, 0);
  return {
      {"no name", bytes(raw_tensor("", {4}, kF32, 0)), "a tensor's name at byte 24 has 0 bytes"},
      {"long name", bytes(raw_tensor(std::string(257, 'n'), {4}, kF32, 0)), "has 257 bytes"},
      {"huge name", bytes(raw(kHuge) + "n"), "1 to 256 are allowed"},
      {"cut name", with_tensors({raw<uint64_t>(200) + "n"}, 0).bytes(),
       "truncated: a tensor's name"},
      {"five dimensions", bytes(five), "tensor 't' has 5 dimensions"},
      {"absurdly many dimensions", bytes(raw_string("t") + raw(UINT32_MAX)),
       "4294967295 dimensions"},
      {"negative dimension", bytes(raw_tensor("t", {UINT64_MAX}, kF32, 0)), "has a dimension of"},
      {"product overflows", bytes(raw_tensor("t", {kHuge, 4}, kF32, 0)),
       "(4, 4611686018427387904)"},
      {"bytes overflow", bytes(raw_tensor("t", {kHuge}, kF32, 0)), "whose size overflows"},
      {"zero hides an overflow", bytes(raw_tensor("t", {kHuge, 0, kHuge}, kF32, 0)), "overflows"},
      {"unknown type", bytes(raw_tensor("t", {4}, 999, 0)), "tensor 't' has type number 999"},
      {"dropped type", bytes(raw_tensor("t", {32}, 31, 0)),
       "has type Q4_0_4_4, which the format has dropped", Error::unsupported},
      {"half a block", bytes(raw_tensor("t", {33}, kQ4_0, 0)),
       "rows of 33 elements, Q4_0 has blocks of 32"},
      {"scalar of blocks", bytes(raw_tensor("t", {}, kQ4_0, 0)), "rows of 1 elements"},
      {"misaligned", bytes(raw_tensor("t", {4}, kF32, 8)), "at offset 8, not a multiple of 32"},
      {"offset past the end", bytes(raw_tensor("t", {4}, kF32, 64)), "the file ends at offset 64"},
      {"huge offset", bytes(raw_tensor("t", {4}, kF32, kHuge)), "tensor 't' has 16 bytes"},
      {"negative offset", bytes(raw_tensor("t", {4}, kF32, uint64_t{1} << 63)), "is at offset"},
      {"huge offset of nothing", bytes(raw_tensor("t", {0}, kF32, kHuge)), "has 0 bytes at offset"},
      {"one byte too few", with_tensors({good}, 15).bytes(), "tensor 't' has 16 bytes at offset 0"},
      {"no data", with_tensors({good}, 0).bytes(), "the file ends at offset 0"},
      {"too large", bytes(raw_tensor("t", {1000}, kF32, 0)), "has 4000 bytes at offset 0"},
      {"cut entry", with_tensors({good.substr(0, good.size() - 8)}, 0).bytes().substr(0, 51),
       "truncated"},
      {"same name", with_tensors({good, raw_tensor("t", {4}, kF32, 32)}, 64).bytes(),
       "two tensors are named 't'"},
      {"same place", with_tensors({good, raw_tensor("u", {4}, kF32, 0)}, 64).bytes(),
       "'t' and 'u' overlap at byte"},
      {"overlap",
       with_tensors({raw_tensor("u", {1}, kF32, 32), raw_tensor("t", {12}, kF32, 0)}, 64).bytes(),
       "'t' and 'u' overlap"},
  };
}

void expect_refused(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    const auto gguf = Gguf::open(reader_of(one.bytes, "m.gguf"));
    ASSERT_FALSE(gguf) << one.name;
    EXPECT_EQ(gguf.error().code, one.code) << one.name;
    EXPECT_THAT(gguf.error().message, HasSubstr(one.message)) << one.name;
    EXPECT_THAT(gguf.error().message, testing::StartsWith("m.gguf: ")) << one.name;
    EXPECT_LT(gguf.error().message.size(), 500U) << one.name;
  }
}

TEST(GgufCorrupt, headers) { expect_refused(header_cases()); }
TEST(GgufCorrupt, metadata) { expect_refused(metadata_cases()); }
TEST(GgufCorrupt, alignments) { expect_refused(alignment_cases()); }
TEST(GgufCorrupt, tensors) { expect_refused(tensor_cases()); }

// A small file with something of everything.
std::string small_file() {
  using enum GgufType;
  GgufParts parts;
  parts.entries = {
      alignment(uint32, raw<uint32_t>(32)),
      raw_entry("s", string, raw_string("text")),
      raw_entry("a", array, raw_array(string, 2, raw_string("x") + raw_string("yz"))),
      raw_entry("n", array, raw_array(array, 1, raw_array(float32, 1, raw(1.0F)))),
      raw_entry("b", boolean, std::string(1, '\0')),
  };
  parts.tensors = {raw_tensor("t", {32, 2}, kQ4_0, 0), raw_tensor("u", {3}, kF32, 64),
                   raw_tensor("e", {0}, kF32, 64)};
  parts.data = std::string(76, 'x');
  return parts.bytes();
}

// Opens and reads everything; the only other outcome is an error.
void read_everything(const std::string& bytes) {
  const auto gguf = Gguf::open(reader_of(bytes));
  if (!gguf) return;
  for (const TensorInfo& tensor : gguf->tensors()) {
    ASSERT_LE(tensor.size_bytes, static_cast<int64_t>(bytes.size()));
    std::vector<std::byte> out(static_cast<size_t>(tensor.size_bytes));
    EXPECT_TRUE(gguf->read(tensor, 0, out));
  }
  for (std::string_view key : gguf->keys()) {
    if (const auto strings = gguf->find_strings(key)) {
      for (int64_t i = 0; i < (*strings)->size(); ++i)
        EXPECT_LT((**strings)[i].size(), bytes.size());
    }
  }
}

TEST(GgufCorrupt, any_byte_of_the_head_may_have_any_value) {
  const std::string good = small_file();
  ASSERT_TRUE(Gguf::open(reader_of(good)));
  for (size_t i = 0; i < good.size() - 76; ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(value);
      read_everything(bytes);
    }
  }
}

TEST(GgufCorrupt, a_file_cut_anywhere_is_refused) {
  const std::string good = small_file();
  for (size_t size = 0; size < good.size(); ++size) {
    const auto gguf = Gguf::open(reader_of(good.substr(0, size)));
    ASSERT_FALSE(gguf) << size;
    EXPECT_EQ(gguf.error().code, Error::corrupt) << size;
  }
}

TEST(GgufCorrupt, a_head_larger_than_any_vocabulary_is_refused_before_it_is_read) {
  GgufParts parts;
  parts.entries = {entry(GgufType::string, raw<uint64_t>(400 << 20))};
  const TempFolder folder;
  const std::string path = folder.write("m.gguf", parts.bytes());
  ASSERT_EQ(::truncate(path.c_str(), 500 << 20), 0);  // sparse
  const auto gguf = Gguf::open(path);
  ASSERT_FALSE(gguf);
  EXPECT_EQ(gguf.error().code, Error::corrupt);
  EXPECT_THAT(gguf.error().message, HasSubstr("the length of string 'k' is 419430400, more than"));
}

TEST(GgufCorrupt, a_message_shows_names_on_one_line) {
  const auto gguf =
      Gguf::open(reader_of(with_tensors({raw_tensor("a\nb\x1b[31m", {4}, 999, 0)}, 64).bytes()));
  ASSERT_FALSE(gguf);
  EXPECT_THAT(gguf.error().message, HasSubstr("'a\\x0ab\\x1b[31m'"));
}

}  // namespace
}  // namespace mummu
