#pragma once

// A tokenizer from the metadata of a GGUF file: models gpt2 (byte-level BPE), llama (SentencePiece
// BPE) and bert (WordPiece). How text is cut stands in the file only as a name
// (tokenizer.ggml.pre); a name that is not known is refused.
//   source   https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, section Tokenizer

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "file/gguf.h"
#include "mummu/result.h"
#include "text/tokenizer_impl.h"

namespace mummu {

//   errors   corrupt, unsupported (names the model or the pre-tokenizer)
Result<Tokenizer> tokenizer_from_gguf(const Gguf& file);

// What a GGUF file says of its vocabulary.
struct GgufVocabulary {
  // Token types as the format numbers them.
  enum Type : int32_t {
    kNormal = 1,
    kUnknown = 2,
    kControl = 3,
    kUserDefined = 4,
    kUnused = 5,
    kByte = 6
  };

  std::string where;  // the path, for messages
  std::string model, pre;
  std::vector<std::string> tokens;
  std::vector<int32_t> types;  // one a token
  std::vector<float> scores;   // one a token, or none
  std::vector<std::string> merges;
  std::optional<TokenId> bos, eos, eot, eom, unknown, separator, padding, cls, mask;
  std::optional<bool> add_bos, add_eos, add_space_prefix;
};

// Reads the metadata; every id is inside the vocabulary, every text valid UTF-8.
Result<GgufVocabulary> read_gguf_vocabulary(const Gguf& file);

// Builds the tokenizer: gguf_tokenizer.cpp picks by model.
Result<std::unique_ptr<Tokenizer::Impl>> build_tokenizer(const GgufVocabulary& vocabulary);

}  // namespace mummu
