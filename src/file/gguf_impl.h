#pragma once

#include <string>

#include "file/gguf.h"
#include "file/gguf_metadata.h"
#include "file/tensor_table.h"

namespace mummu {

struct Gguf::Impl {
  std::string path;  // of the first part
  int32_t version = 0;
  GgufMetadata metadata;  // of the first part
  TensorTable table;
};

}  // namespace mummu
