// Safetensors files that are wrong in one place each: one error that says what and where, and never
// more than that.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "file/safetensors.h"
#include "file/test_writer.h"

namespace mummu {
namespace {

using test::raw;
using test::reader_of;
using test::safetensors_bytes;
using test::TempFolder;
using testing::HasSubstr;

struct Case {
  const char* name;
  std::string bytes;
  const char* message;  // a part of it
};

// A file with these tensors and this many bytes of data.
std::string file(std::string_view tensors, size_t data_bytes = 8) {
  return safetensors_bytes(fmt::format("{{{}}}", tensors), std::string(data_bytes, 'x'));
}

// A file with one tensor 't' of these fields and 8 bytes of data.
std::string fields(std::string_view text) { return file(fmt::format(R"("t":{{{}}})", text)); }

std::string shape(std::string_view text) {
  return fields(fmt::format(R"("dtype":"F32","shape":{},"data_offsets":[0,8])", text));
}

std::string offsets(std::string_view text) {
  return fields(fmt::format(R"("dtype":"F32","shape":[2],"data_offsets":{})", text));
}

// A byte tensor's entry.
std::string tensor(std::string_view name, int begin, int end) {
  return fmt::format(R"("{}":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}})", name,
                     end - begin, begin, end);
}

void expect_refused(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    const auto model = Safetensors::open(reader_of(one.bytes, "m.safetensors"));
    ASSERT_FALSE(model) << one.name;
    EXPECT_EQ(model.error().code, Error::corrupt) << one.name;
    EXPECT_THAT(model.error().message, HasSubstr(one.message)) << one.name;
    EXPECT_THAT(model.error().message, testing::StartsWith("m.safetensors: ")) << one.name;
    EXPECT_LT(model.error().message.size(), 500U) << one.name;
  }
}

TEST(SafetensorsCorrupt, headers) {
  const std::string good = file(tensor("t", 0, 8));
  expect_refused({
      {"empty", "", "is empty"},
      {"short", "1234567", "not a safetensors file: it starts with '1234567'"},
      {"text", "hello, this is a text file", "starts with 'hello, t'"},
      {"lfs pointer", "version https://git-lfs.github.com/spec/v1", "Git LFS pointer"},
      {"no header", raw<uint64_t>(0), "does not begin with '{'"},
      {"header longer than the file", raw<uint64_t>(3) + "{}",
       "the header has 3 bytes, the file 10"},
      {"header cut", good.substr(0, 30), "truncated?"},
      {"length over 100 MB", raw<uint64_t>(100'000'001) + "{}", "at most 100000000"},
      {"length of -1", raw(UINT64_MAX) + "{}", "not a safetensors file"},
      {"length of 2^63", raw(uint64_t{1} << 63) + "{}", "not a safetensors file"},
      {"a space first", safetensors_bytes(" {}", ""), "does not begin with '{'"},
      {"an array", safetensors_bytes("[]", ""), "does not begin with '{'"},
      {"not JSON", safetensors_bytes("{oops}", ""), "at byte 2: not JSON"},
      {"cut JSON", safetensors_bytes(R"({"t":{)", ""), "not JSON"},
      {"two documents", safetensors_bytes("{}{}", ""), "not JSON"},
      {"zeros behind", safetensors_bytes(std::string("{}\0\0", 4), ""), "not JSON"},
      {"comment", safetensors_bytes("{/**/}", ""), "not JSON"},
      {"not UTF-8", safetensors_bytes("{\"\xff\":{}}", ""), "not JSON"},
      {"half a surrogate", safetensors_bytes(R"({"\ud800":{}})", ""), "not JSON"},
      {"nested absurdly", safetensors_bytes("{\"t\":" + std::string(100'000, '['), ""), "array"},
  });
}

TEST(SafetensorsCorrupt, fields_of_tensors) {
  expect_refused({
      {"tensor is a number", file(R"("t":1)"), "'t' is no object"},
      {"tensor is null", file(R"("t":null)"), "'t' is no object"},
      {"tensor is an array", file(R"("t":[])"), "'t' is an array"},
      {"unknown field", fields(R"("stride":1)"), "tensor 't': 'stride' is no field"},
      {"no dtype", fields(R"("shape":[2],"data_offsets":[0,8])"), "tensor 't' has no dtype"},
      {"no shape", fields(R"("dtype":"F32","data_offsets":[0,8])"), "tensor 't' has no shape"},
      {"no offsets", fields(R"("dtype":"F32","shape":[2])"), "tensor 't' has no two data_offsets"},
      {"no fields", fields(""), "tensor 't' has no dtype"},
      {"unknown dtype", fields(R"("dtype":"F31","shape":[2],"data_offsets":[0,8])"),
       "tensor 't' has the unknown dtype 'F31'"},
      {"dtype in small letters", fields(R"("dtype":"f32")"), "unknown dtype 'f32'"},
      {"dtype is a number", fields(R"("dtype":32)"), "'dtype' has the wrong type"},
      {"dtype is an array", fields(R"("dtype":[])"), "'dtype' is an array"},
      {"dtype is an object", fields(R"("dtype":{})"), "'dtype' is an object"},
      {"dtype twice", fields(R"("dtype":"F32","dtype":"F16")"), "'dtype' is there twice"},
      {"shape twice", fields(R"("shape":[],"shape":[])"), "'shape' is there twice"},
      {"shape is a number", shape("2"), "'shape' has the wrong type"},
      {"shape in a shape", shape("[[2]]"), "nested too deeply"},
      {"negative dimension", shape("[-2]"), "'shape' holds no size"},
      {"fraction", shape("[2.0]"), "'shape' holds no size"},
      {"text", shape(R"(["2"])"), "'shape' holds no size"},
      {"dimension of 2^63", shape("[9223372036854775808]"), "'shape' holds an absurd size"},
      {"dimension of 1e400", shape("[1e400]"), "not JSON"},
      {"product overflows", shape("[4294967296,4294967296]"), "size overflows"},
      {"bits overflow", shape("[2305843009213693952]"), "size overflows"},
      {"zero hides an overflow", shape("[0,4294967296,4294967296]"), "size overflows"},
      {"other size", shape("[3]"), "tensor 't' of F32 (3) does not take 8 bytes"},
      {"half a byte", fields(R"("dtype":"F4","shape":[3],"data_offsets":[0,1])"),
       "does not take 1"},
  });
  std::string ones = "[1";
  for (int i = 0; i < 32; ++i) ones += ",1";
  expect_refused({{"33 dimensions", shape(ones + "]"), "'shape' has too many dimensions"}});
}

TEST(SafetensorsCorrupt, offsets_and_their_gaps) {
  expect_refused({
      {"one offset", offsets("[0]"), "has no two data_offsets"},
      {"three offsets", offsets("[0,4,8]"), "has more than two offsets"},
      {"offsets in an object", offsets("{}"), "'data_offsets' is an object"},
      {"negative offset", offsets("[-8,0]"), "'data_offsets' holds no offset"},
      {"offset of 2^64-1", offsets("[0,18446744073709551615]"), "holds an absurd offset"},
      {"backwards", offsets("[8,0]"), "tensor 't' ends before it begins"},
      {"past the end", file(tensor("t", 0, 9)), "ends at byte 9 of the data, the file at 8"},
      {"far past the end", offsets("[4611686018427387904,4611686018427387912]"), "begins at byte"},
      {"gap in front", file(tensor("t", 1, 8)), "'t' begins at byte 1 of the data"},
      {"gap between", file(tensor("a", 0, 3) + "," + tensor("b", 4, 8)), "'b' begins at byte 4"},
      {"overlap", file(tensor("a", 0, 5) + "," + tensor("b", 4, 8)), "the one before ends at 5"},
      {"same place", file(tensor("a", 0, 8) + "," + tensor("b", 0, 8)), "begins at byte 0"},
      {"inside another", file(tensor("a", 0, 8) + "," + tensor("b", 2, 4)), "begins at byte 2"},
      {"empty inside another", file(tensor("a", 0, 8) + "," + tensor("b", 2, 2)),
       "begins at byte 2"},
      {"bytes behind", file(tensor("t", 0, 7)), "1 bytes at the end belong to no tensor"},
      {"bytes and no tensors", file(""), "8 bytes at the end belong to no tensor"},
      {"a byte too few", file(tensor("t", 0, 8), 7), "truncated?"},
      {"same name", file(tensor("t", 0, 4) + "," + tensor("t", 4, 8)), "two tensors are named 't'"},
  });
}

TEST(SafetensorsCorrupt, metadata) {
  const auto metadata = [](std::string_view text) {
    return file(fmt::format(R"("__metadata__":{},{})", text, tensor("t", 0, 8)));
  };
  expect_refused({
      {"a string", metadata(R"("x")"), "'__metadata__' is no object"},
      {"number inside", metadata(R"({"a":1})"), "__metadata__ 'a' is no string"},
      {"object inside", metadata(R"({"a":{}})"), "__metadata__ 'a' is an object"},
      {"array inside", metadata(R"({"a":[]})"), "__metadata__ 'a' is an array"},
      {"key twice", metadata(R"({"a":"","a":""})"), "__metadata__ 'a' is there twice"},
      {"itself twice", metadata(R"({},"__metadata__":{})"), "'__metadata__' is there twice"},
  });
}

// Opens and reads everything; the only other outcome is an error.
void read_everything(const std::string& bytes) {
  const auto model = Safetensors::open(reader_of(bytes));
  if (!model) return;
  for (const TensorInfo& info : model->tensors()) {
    ASSERT_LE(info.size_bytes, static_cast<int64_t>(bytes.size()));
    std::vector<std::byte> out(static_cast<size_t>(info.size_bytes));
    EXPECT_TRUE(model->read(info, 0, out));
  }
}

TEST(SafetensorsCorrupt, any_byte_of_the_head_may_have_any_value) {
  const std::string good =
      file(R"("__metadata__":{"k":"v"},"w":{"dtype":"F16","shape":[2,2],"data_offsets":[2,10]},)" +
               tensor("b", 0, 2),
           10);
  ASSERT_TRUE(Safetensors::open(reader_of(good)));
  for (size_t i = 0; i < good.size() - 10; ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(value);
      read_everything(bytes);
    }
  }
}

TEST(SafetensorsCorrupt, a_file_cut_anywhere_is_refused) {
  const std::string good = file(tensor("a", 0, 3) + "," + tensor("b", 3, 8));
  for (size_t size = 0; size < good.size(); ++size) {
    const auto model = Safetensors::open(reader_of(good.substr(0, size)));
    ASSERT_FALSE(model) << size;
    EXPECT_EQ(model.error().code, Error::corrupt) << size;
  }
}

TEST(SafetensorsCorrupt, a_head_over_its_limit_is_refused_before_it_is_read) {
  const TempFolder folder;
  const std::string path = folder.write("m.safetensors", raw<uint64_t>(400 << 20) + "{");
  ASSERT_EQ(::truncate(path.c_str(), 500 << 20), 0);  // sparse
  const auto model = Safetensors::open(path);
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("the header has 419430400 bytes"));
}

}  // namespace
}  // namespace mummu
