#pragma once

// The tensors of one model, over all files that it is made of: what Gguf and Safetensors have in
// common, and what a loader needs. Owns the open files. Const functions may be called from any
// number of threads.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "file/reader.h"
#include "file/tensor_info.h"
#include "mummu/result.h"

namespace mummu {

// More tensors than any known checkpoint has (the largest have about 2 * 10^5); bounds the memory
// and time that a hostile header takes.
inline constexpr int64_t kMaxTensors = 1 << 19;
// One open descriptor each; the largest known checkpoints have about 200.
inline constexpr int64_t kMaxFiles = 512;

class TensorTable {
 public:
  TensorTable() = default;

  // The tensors of one file.
  //   requires every tensor's bytes inside the file
  //   errors   corrupt (two tensors of one name)
  static Result<TensorTable> make(FileReader file, std::vector<TensorInfo> tensors);

  // One table over the files of several, in their order.
  //   errors   corrupt (two tensors of one name)
  static Result<TensorTable> join(std::vector<TensorTable> parts);

  std::span<const TensorInfo> tensors() const { return tensors_; }  // in the order of the files
  const TensorInfo* find(std::string_view name) const;              // nullptr: there is none
  std::span<const FileReader> files() const { return files_; }

  // The path of the file that holds a tensor, for messages.
  const std::string& path(const TensorInfo& tensor) const;

  // Fills `out` with the tensor's bytes from byte `offset` of the tensor on.
  //   errors   invalid (past the tensor's end), corrupt (the file was truncated meanwhile), io
  Result<void> read(const TensorInfo& tensor, int64_t offset, std::span<std::byte> out) const;

 private:
  Result<void> index();

  std::vector<FileReader> files_;
  std::vector<TensorInfo> tensors_;
  std::vector<int32_t> by_name_;  // indices into tensors_, sorted by name
};

}  // namespace mummu
