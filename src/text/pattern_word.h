#pragma once

// The expressions that cut text into words, numbers, signs and white space with no character left
// over. Every one of them is a choice of a few parts, so one scanner with a style does for all.
// Immutable; any thread.

#include <memory>

#include "text/pattern.h"

namespace mummu {

// How the expressions of one kind differ.
struct WordStyle {
  bool gpt2 =
      false;  // GPT-2's form: only a space joins what follows; line ends are like other space
  bool marks = false;  // \p{M} is a letter
  bool cased = false;  // o200k's form: a word ends where lower case turns to upper case
  int digits = 3;      // of one number at most
  bool slash = false;  // / may follow signs like line ends do
};

std::unique_ptr<const Pattern> word_style_pattern(const WordStyle& style);

}  // namespace mummu
