// Any bytes as a tokenizer.json: an error or a tokenizer that encodes and decodes what it likes
// without a fault.

#include <cstdlib>

#include "text/tokenizer_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mummu;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = parse_tokenizer_json(text, "fuzz");
  if (!tokenizer) {
    if (tokenizer.error().code == Error::internal) std::abort();
    return 0;
  }
  for (const std::string_view sample :
       {" Hello, w\u00f6rld's 123\n\n", "<|im_end|>\u4e2d\u6587 e\u0301\U0001f600",
        "aaaaaaaaaaaaaaaa"}) {
    for (const bool special : {false, true}) {
      const auto ids = tokenizer->encode(sample, {.parse_special = special});
      if (!ids) std::abort();
      if (!tokenizer->decode(*ids, special)) std::abort();
    }
  }
  return 0;
}
