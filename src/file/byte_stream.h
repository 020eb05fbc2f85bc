#pragma once

// The head of a file, read in order through a small buffer; every read is checked against the bytes
// that are left first. Little-endian numbers. Borrows the file.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "file/reader.h"
#include "mummu/result.h"

namespace mummu {

static_assert(std::endian::native == std::endian::little,
              "file formats are read as they lie in memory");

class ByteStream {
 public:
  // Reads from the start of `file` and never past `limit_bytes`.
  ByteStream(const FileReader& file, int64_t limit_bytes);

  int64_t position() const { return position_; }
  int64_t remaining() const { return end_ - position_; }

  // All of these are corrupt if fewer bytes are left; `what` says of what, `name` (may be empty) of
  // which one.
  Result<void> read(std::span<std::byte> out, std::string_view what, std::string_view name = {});
  Result<void> skip(int64_t bytes, std::string_view what, std::string_view name = {});
  Result<void> need(int64_t bytes, std::string_view what, std::string_view name = {}) const;

  template <typename T>
  Result<T> number(std::string_view what, std::string_view name = {}) {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    MUMMU_TRY(read(std::as_writable_bytes(std::span(&value, 1)), what, name));
    return value;
  }

 private:
  Result<void> fill();

  const FileReader& file_;
  int64_t position_ = 0;
  int64_t end_;
  std::vector<std::byte> buffer_;
  int64_t buffer_begin_ = 0;  // in the file
  int64_t buffer_end_ = 0;
};

}  // namespace mummu
