// Any ids in any order: what comes piece by piece is valid UTF-8 and together what decode gives.

#include <cstdlib>
#include <string>

#include "mummu/tokenizer.h"
#include "text/byte_level.h"
#include "text/decoder.h"
#include "text/tokenizer_impl.h"
#include "text/utf8.h"

namespace {

using namespace mummu;

// One token a byte, and some of several that cut code points.
Tokenizer make_tokenizer(int kind) {
  auto impl = std::make_unique<Tokenizer::Impl>();
  for (int byte = 0; byte < 256; ++byte) {
    const char raw = static_cast<char>(byte);
    std::string text;
    if (kind == 0) append_byte_level(text, {&raw, 1});
    if (kind == 1)
      text = "<0x" + std::string(1, "0123456789ABCDEF"[byte / 16]) + "0123456789ABCDEF"[byte % 16] +
             ">";
    if (kind == 2) append_utf8(text, static_cast<char32_t>(0x2500 + byte));
    impl->texts.add(text);
    impl->special.push_back(byte == 7);
  }
  using Kind = DecoderStep::Kind;
  const std::vector<DecoderStep> steps[] = {
      {{.kind = Kind::byte_level}},
      {{.kind = Kind::replace, .from = "\u2581", .to = " "}, {.kind = Kind::byte_fallback}},
      {{.kind = Kind::metaspace, .from = "\u2581", .flag = true}}};
  impl->decoder =
      TextDecoder(impl->texts, steps[kind], {.text = " ", .count = kind == 1 ? 2u : 0u});
  return Tokenizer(std::move(impl));
}

void check(const Tokenizer& tokenizer, const std::vector<TokenId>& ids, bool skip_special) {
  StreamDecoder decoder(tokenizer, skip_special);
  std::string text;
  for (const TokenId id : ids) {
    const std::string_view part = decoder.push(id);
    if (find_invalid_utf8(part)) std::abort();
    text += part;
  }
  text += decoder.finish();
  if (find_invalid_utf8(text)) std::abort();
  const auto whole = tokenizer.decode(ids, skip_special);
  if (!whole || *whole != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Tokenizer tokenizers[] = {make_tokenizer(0), make_tokenizer(1), make_tokenizer(2)};
  const std::vector<TokenId> ids(data, data + size);
  for (const Tokenizer& tokenizer : tokenizers)
    for (const bool skip_special : {false, true}) check(tokenizer, ids, skip_special);
  return 0;
}
