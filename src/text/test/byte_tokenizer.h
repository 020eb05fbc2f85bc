#pragma once

// A tokenizer of single bytes with the added tokens that a test wants.

#include <string>
#include <utility>
#include <vector>

#include "mummu/tokenizer.h"

namespace mummu::test {

//   added   {text, special}; their ids are 256 and following
Tokenizer byte_tokenizer(const std::vector<std::pair<std::string, bool>>& added);

}  // namespace mummu::test
