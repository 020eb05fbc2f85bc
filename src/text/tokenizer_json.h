#pragma once

// A tokenizer from a tokenizer.json, as the Python package tokenizers writes it, and from what lies
// beside it in a model's folder (tokenizer_config.json, generation_config.json). A component that
// is not known is refused by its name.
//   source   https://huggingface.co/docs/tokenizers/api/tokenizer and the serialisation code of
//   tokenizers 0.23

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "file/json.h"
#include "mummu/result.h"
#include "text/tokenizer_impl.h"

namespace mummu {

// From a folder or the path of the json file itself.
//   errors   not_found, corrupt, unsupported (names the component), io
Result<Tokenizer> tokenizer_from_json(const std::string& path);

// From the text of a tokenizer.json alone; `where` takes the place of a path in messages.
Result<Tokenizer> parse_tokenizer_json(std::string_view text, std::string_view where);

namespace tokenizer_json {

// What the sections of the file become. Each is null or absent, or an object with its type.
Result<Normalizers> read_normalizers(const JsonObject& root);

struct Cutting {
  PreTokenizers steps;
  bool byte_level = false;      // a step writes bytes as characters,
  bool byte_level_last = true;  // and no other comes after it
};
Result<Cutting> read_pre_tokenizers(const JsonObject& root);

struct DecoderParts {
  std::vector<DecoderStep> steps;
  TextDecoder::Front front;
};
Result<DecoderParts> read_decoder(const JsonObject& root);

// Writes impl.front and impl.back. The texts of the vocabulary are known.
Result<void> read_post_processor(const JsonObject& root, Tokenizer::Impl& impl);
Result<void> read_truncation_and_padding(const JsonObject& root, Tokenizer::Impl& impl);

// Writes impl.texts and impl.index from the model's vocabulary and the added tokens, then
// impl.added. Returns one bit an id, true for those that the model must never produce.
//   control   texts that the folder names as its bos, eos, pad, unk, … tokens
Result<std::vector<bool>> read_vocabulary(const JsonObject& root,
                                          const std::vector<std::string>& control,
                                          Tokenizer::Impl& impl);

// Writes impl.model, and fits the last step of cutting to it.
Result<void> read_model(const JsonObject& root, const std::vector<bool>& hidden, Cutting cutting,
                        Tokenizer::Impl& impl);

// The kind of model: its "type", or what its fields say in files that have none.
Result<std::string> model_type(const JsonObject& model);

// A pattern: {"String": …} or {"Regex": …}.
Result<std::unique_ptr<const Pattern>> read_pattern(const JsonObject& owner);

// The objects of an array.
Result<std::vector<JsonObject>> objects(const JsonObject& owner, std::string_view key);

// "FILE: pre_tokenizer: type Foo is not supported"
Error unknown_type(const JsonObject& object, std::string_view type);

// A text that has to be one character.
Result<std::string> read_character(const JsonObject& object, std::string_view key);

}  // namespace tokenizer_json
}  // namespace mummu
