#pragma once

// One file, read by pread into buffers of the caller: nothing is mapped, so a file that shrinks
// meanwhile is an error and never a SIGBUS. Owns the descriptor; opens regular files only. Const
// functions may be called from any number of threads.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mummu/result.h"

namespace mummu {

class FileReader {
 public:
  //   errors   not_found, invalid (a folder, pipe, socket or device), io (no permission, ...)
  static Result<FileReader> open(const std::string& path);

  // The same over bytes in memory, for tests and fuzzing. `name` takes the place of the path in
  // messages.
  static FileReader from_bytes(std::string name, std::vector<std::byte> bytes);

  FileReader(FileReader&& other) noexcept;
  FileReader& operator=(FileReader&& other) noexcept;
  ~FileReader();

  const std::string& path() const { return path_; }
  int64_t size() const { return size_; }  // bytes, when it was opened

  // Fills all of `out` with the bytes at `offset`.
  //   requires offset >= 0
  //   errors   corrupt (the file ends before: "truncated while reading"), io
  Result<void> read(int64_t offset, std::span<std::byte> out) const;

 private:
  FileReader(std::string path, int fd, int64_t size, std::vector<std::byte> bytes);
  Error truncated(int64_t offset, size_t wanted, int64_t end) const;

  std::string path_;
  int fd_ = -1;  // -1: bytes_ is the file
  int64_t size_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace mummu
