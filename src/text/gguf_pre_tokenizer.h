#pragma once

// What the names in tokenizer.ggml.pre mean: how the reference tokenizer of that model family
// normalizes and cuts text.

#include <optional>
#include <string_view>

#include "mummu/result.h"
#include "text/tokenizer_impl.h"

namespace mummu {

struct GgufPreTokenizer {
  Normalizers normalizers;
  PreTokenizers steps;
  bool ignore_merges = false;
  bool add_bos = false;  // where the file does not say
};

//   errors   unsupported (a name that is not known)
Result<GgufPreTokenizer> gguf_pre_tokenizer(std::string_view name, std::string_view where);

}  // namespace mummu
