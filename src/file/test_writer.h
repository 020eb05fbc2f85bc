#pragma once

// For tests: GGUF and safetensors files made piece by piece, right or wrong, and a folder to put
// them in.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "file/gguf_type.h"
#include "file/reader.h"

namespace mummu::test {

template <typename T>
std::string raw(T number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

// A string of a GGUF file: its length, then its bytes.
inline std::string raw_string(std::string_view text) {
  return raw<uint64_t>(text.size()).append(text);
}

// A metadata entry: the key, the type, the value's bytes.
inline std::string raw_entry(std::string_view key, GgufType type, const std::string& value) {
  return raw_string(key) + raw(static_cast<uint32_t>(type)) + value;
}

// The value of an array: `elements` is the bytes of all of them.
inline std::string raw_array(GgufType type, uint64_t count, const std::string& elements) {
  return raw(static_cast<uint32_t>(type)) + raw(count) + elements;
}

// A tensor's entry; `dimensions` as the file has them, innermost first; `offset` from the start of
// the data.
inline std::string raw_tensor(std::string_view name, const std::vector<uint64_t>& dimensions,
                              uint32_t type, uint64_t offset) {
  std::string out = raw_string(name) + raw(static_cast<uint32_t>(dimensions.size()));
  for (uint64_t dimension : dimensions) out += raw(dimension);
  return out + raw(type) + raw(offset);
}

struct GgufParts {
  std::string magic = "GGUF";
  uint32_t version = 3;
  std::vector<std::string> entries;
  std::vector<std::string> tensors;
  std::string data;
  uint32_t alignment = 32;
  std::optional<uint64_t> key_count;     // instead of the right one
  std::optional<uint64_t> tensor_count;  // instead of the right one

  std::string bytes() const {
    std::string out = magic + raw(version) + raw(tensor_count.value_or(tensors.size())) +
                      raw(key_count.value_or(entries.size()));
    for (const std::string& entry : entries) out += entry;
    for (const std::string& tensor : tensors) out += tensor;
    out.append((alignment - out.size() % alignment) % alignment, '\0');
    return out + data;
  }
};

inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  return raw<uint64_t>(header.size()).append(header).append(data);
}

inline FileReader reader_of(std::string_view bytes, std::string name = "file") {
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return FileReader::from_bytes(std::move(name), {begin, begin + bytes.size()});
}

// A fresh folder that goes away with its owner.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mummu-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() { std::filesystem::remove_all(path_); }

  std::string path(const std::string& name = "") const {
    return name.empty() ? path_ : path_ + "/" + name;
  }
  // Writes a file and returns its path.
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::string path_;
};

}  // namespace mummu::test
