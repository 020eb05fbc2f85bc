#pragma once

// The tensors of one safetensors file, or of all the files that a sharded model's index names,
// checked against the files' sizes when they are opened. Immutable after open: any number of
// threads may use it at once.
//   source   https://huggingface.co/docs/safetensors (format); model.safetensors.index.json is
//            transformers' (save_pretrained)

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "file/reader.h"
#include "file/tensor_table.h"
#include "mummu/result.h"

namespace mummu {

class Safetensors {
 public:
  // `path` is a file, an index (its name ends in .json), or a folder that holds model.safetensors
  // or, without that, model.safetensors.index.json.
  //   errors   not_found (the file, or by name a shard), corrupt (says what and where), io
  static Result<Safetensors> open(const std::string& path);
  static Result<Safetensors> open(FileReader file);

  const TensorTable& table() const { return table_; }
  std::span<const TensorInfo> tensors() const { return table_.tensors(); }
  const TensorInfo* find(std::string_view name) const { return table_.find(name); }
  Result<void> read(const TensorInfo& tensor, int64_t offset, std::span<std::byte> out) const {
    return table_.read(tensor, offset, out);
  }

  // `__metadata__` of the (first) file.
  const std::map<std::string, std::string, std::less<>>& metadata() const { return metadata_; }

 private:
  static Result<Safetensors> open_index(const std::string& path);

  TensorTable table_;
  std::map<std::string, std::string, std::less<>> metadata_;
};

}  // namespace mummu
