// Any bytes as a GGUF file: they open or they are refused, and what opens can be read to the end.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "file/gguf.h"

namespace {

size_t bytes_of(const mummu::StringArray& strings) {
  size_t bytes = 0;
  for (int64_t i = 0; i < strings.size(); ++i) bytes += strings[i].size();
  return bytes;
}

void read_values(const mummu::Gguf& gguf, size_t file_bytes) {
  for (std::string_view key : gguf.keys()) {
    const auto strings = gguf.find_strings(key);
    if (strings && bytes_of(**strings) > file_bytes) std::abort();
    const auto text = gguf.find_string(key);
    if (text && (*text)->size() > file_bytes) std::abort();
    const bool typed = gguf.find_i64(key) || gguf.find_f64(key) || gguf.find_bool(key) ||
                       gguf.find_i32s(key) || gguf.find_f32s(key) || strings || text;
    if (!typed && gguf.type_name(key).empty()) std::abort();
  }
}

void read_tensors(const mummu::Gguf& gguf) {
  for (const mummu::TensorInfo& tensor : gguf.tensors()) {
    std::vector<std::byte> bytes(static_cast<size_t>(tensor.size_bytes));
    if (!gguf.read(tensor, 0, bytes) || gguf.find(tensor.name) != &tensor) std::abort();
    bytes.emplace_back();
    if (gguf.read(tensor, 0, bytes)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  // A name of a first part, so that the code of split models runs; there is no second part.
  auto file = mummu::FileReader::from_bytes("fuzz-00001-of-00002.gguf", {begin, begin + size});
  const auto gguf = mummu::Gguf::open(std::move(file));
  if (!gguf) {
    if (gguf.error().message.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  read_values(*gguf, size);
  read_tensors(*gguf);
  return 0;
}
