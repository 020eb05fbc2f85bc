#pragma once

// A GGUF file: metadata (typed values by key) and tensors, all checked against the file's size when
// it is opened. Versions 2 and 3, little-endian. A split model (NAME-00001-of-00003.gguf) is opened
// by its first file, which brings the others. Immutable after open: any number of threads may use
// it at once. Views that it returns live as long as it does.
//   source   https://github.com/ggml-org/ggml/blob/master/docs/gguf.md

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "file/reader.h"
#include "file/tensor_table.h"
#include "mummu/result.h"

namespace mummu {

// An array of strings as it lies in memory: all bytes in one piece, and where each string ends.
class StringArray {
 public:
  StringArray() = default;
  StringArray(const char* bytes, std::span<const uint32_t> ends) : bytes_(bytes), ends_(ends) {}

  int64_t size() const { return static_cast<int64_t>(ends_.size()); }
  //   requires 0 <= i < size()
  std::string_view operator[](int64_t i) const {
    const uint32_t begin = i == 0 ? 0 : ends_[static_cast<size_t>(i - 1)];
    return {bytes_ + begin, ends_[static_cast<size_t>(i)] - begin};
  }

 private:
  const char* bytes_ = nullptr;
  std::span<const uint32_t> ends_;
};

class Gguf {
 public:
  //   errors   not_found (this file or, by name, another part of a split model),
  //            corrupt (says what and where), invalid (no regular file, not the first part), io,
  //            unsupported (version 1, big-endian, a tensor type that the format has dropped)
  static Result<Gguf> open(const std::string& path);
  static Result<Gguf> open(FileReader file);

  Gguf(Gguf&&) noexcept;
  Gguf& operator=(Gguf&&) noexcept;
  ~Gguf();

  // Metadata. get_x needs the key (corrupt if it is missing), find_x gives an empty optional
  // without it. Both are corrupt, with path, key and both types, if the value is of another type or
  // does not fit.
  //   get_i64      any integer type           get_f64    any float or integer type; may be NaN
  //   get_string   bytes as they are: UTF-8 is not checked, also not in get_strings
  //   get_i32s     any integer type, or bool (0 and 1)        get_f32s   float32 or float64
  Result<int64_t> get_i64(std::string_view key) const;
  Result<double> get_f64(std::string_view key) const;
  Result<bool> get_bool(std::string_view key) const;
  Result<std::string_view> get_string(std::string_view key) const;
  Result<StringArray> get_strings(std::string_view key) const;
  Result<std::vector<int32_t>> get_i32s(std::string_view key) const;
  Result<std::vector<float>> get_f32s(std::string_view key) const;

  Result<std::optional<int64_t>> find_i64(std::string_view key) const;
  Result<std::optional<double>> find_f64(std::string_view key) const;
  Result<std::optional<bool>> find_bool(std::string_view key) const;
  Result<std::optional<std::string_view>> find_string(std::string_view key) const;
  Result<std::optional<StringArray>> find_strings(std::string_view key) const;
  Result<std::optional<std::vector<int32_t>>> find_i32s(std::string_view key) const;
  Result<std::optional<std::vector<float>>> find_f32s(std::string_view key) const;

  bool has(std::string_view key) const;
  bool is_array(std::string_view key) const;       // false for an absent key
  int64_t array_size(std::string_view key) const;  // 0 for an absent key or a scalar
  // "uint32", "array of string"; empty for an absent key.
  std::string type_name(std::string_view key) const;
  std::vector<std::string_view> keys() const;  // in the order of the file

  // Tensors, over all parts of a split model.
  const TensorTable& table() const;
  std::span<const TensorInfo> tensors() const { return table().tensors(); }
  const TensorInfo* find(std::string_view name) const { return table().find(name); }
  Result<void> read(const TensorInfo& tensor, int64_t offset, std::span<std::byte> out) const {
    return table().read(tensor, offset, out);
  }

  int32_t version() const;
  const std::string& path() const;  // of the first part

  struct Impl;

 private:
  explicit Gguf(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace mummu
