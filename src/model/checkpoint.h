#pragma once

// A checkpoint on disk, opened but not loaded: its tensors, its configuration, its family. Owns the
// open files.

#include <optional>
#include <string>
#include <variant>

#include "file/gguf.h"
#include "file/safetensors.h"
#include "model/family.h"
#include "mummu/result.h"

namespace mummu {

struct Checkpoint {
  std::variant<Gguf, Safetensors> file;
  Format format = Format::gguf;
  const Family* family = nullptr;
  ModelConfig config;
  // What Tokenizer::load and the chat template's loader read: the GGUF file, or the folder.
  std::string text_path;

  const TensorTable& table() const {
    return std::visit([](const auto& open) -> const TensorTable& { return open.table(); }, file);
  }
};

// `path` is a GGUF file, a safetensors file with config.json beside it, or a folder of both.
//   errors   not_found, corrupt, unsupported, io
Result<Checkpoint> open_checkpoint(const std::string& path);

}  // namespace mummu
