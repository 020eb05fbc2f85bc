#pragma once

// Rewrites text before it is cut: Unicode normal forms, lower case, accents, spaces. A normalizer
// is a chain of steps. Immutable after it is built; any thread.
//   source   the component list of the tokenizer.json format; behaviour as in the Python package
//   tokenizers

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/pattern.h"

namespace mummu {

class Normalizer {
 public:
  Normalizer() = default;
  Normalizer(const Normalizer&) = delete;
  Normalizer& operator=(const Normalizer&) = delete;
  virtual ~Normalizer() = default;

  // Writes what becomes of a text, or returns false, and nothing written, if it stays as it is.
  //   requires  text valid UTF-8, out empty
  virtual bool apply(std::string_view text, std::string& out) const = 0;
};

using Normalizers = std::vector<std::unique_ptr<const Normalizer>>;

// The text after all steps, in `text` itself; false if no step changed it.
bool normalize_by_all(const Normalizers& steps, std::string& text);

enum class NormalForm { nfc, nfd, nfkc, nfkd };
std::unique_ptr<const Normalizer> make_normal_form(NormalForm form);

std::unique_ptr<const Normalizer> make_lowercase();

// Drops combining marks.
std::unique_ptr<const Normalizer> make_strip_accents();

// Drops white space at the ends.
std::unique_ptr<const Normalizer> make_strip(bool left, bool right);

std::unique_ptr<const Normalizer> make_prepend(std::string text);

std::unique_ptr<const Normalizer> make_replace(std::unique_ptr<const Pattern> pattern,
                                               std::string text);

// Writes each byte as its printable character (text/byte_level.h).
std::unique_ptr<const Normalizer> make_byte_characters_normalizer();

// BERT's: control characters dropped, white space made spaces, Chinese characters set apart,
// accents dropped, lower case.
struct BertNormalizerOptions {
  bool clean_text = true, handle_chinese_chars = true, strip_accents = true, lowercase = true;
};
std::unique_ptr<const Normalizer> make_bert_normalizer(const BertNormalizerOptions& options);

// SentencePiece's nmt rules: some control characters dropped, others made spaces.
std::unique_ptr<const Normalizer> make_nmt();

}  // namespace mummu
