#pragma once

// For tests: a tokenizer whose tokens are given byte strings, in the order of their ids. It
// decodes; it does not encode.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "text/byte_level.h"
#include "text/decoder.h"
#include "text/tokenizer_impl.h"

namespace mummu::test {

inline Tokenizer tiny_tokenizer(const std::vector<std::string>& tokens,
                                const std::vector<TokenId>& special = {}) {
  auto impl = std::make_unique<Tokenizer::Impl>();
  for (const std::string& token : tokens) {
    std::string text;
    append_byte_level(text, token);
    const auto id = static_cast<TokenId>(impl->special.size());
    impl->texts.add(text);
    impl->special.push_back(std::find(special.begin(), special.end(), id) != special.end());
  }
  impl->decoder = TextDecoder(impl->texts, {{.kind = DecoderStep::Kind::byte_level}}, {});
  return Tokenizer(std::move(impl));
}

}  // namespace mummu::test
