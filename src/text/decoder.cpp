#include "text/decoder.h"

#include <algorithm>

#include "text/byte_level.h"
#include "text/utf8.h"

namespace mummu {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  std::string out;
  size_t at = 0;
  for (size_t found; (found = text.find(from, at)) != std::string::npos; at = found + from.size()) {
    out.append(text, at, found - at);
    out += to;
  }
  if (at == 0) return;
  out.append(text, at);
  text = std::move(out);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The byte that <0x0A> names, or -1.
int fallback_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return -1;
  const int high = hex_digit(token[3]), low = hex_digit(token[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// English as WordPiece decoders tidy it, one rule after the other.
void tidy(std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
  };
  for (const auto& [from, to] : kRules) replace_all(text, from, to);
}

void strip(std::string& text, const DecoderStep& step) {
  size_t begin = 0, end = text.size();
  const size_t size = step.from.size();
  for (size_t i = 0; i < step.left && text.compare(begin, size, step.from) == 0; ++i) begin += size;
  for (size_t i = 0; i < step.right && end >= begin + size; ++i) {
    if (text.compare(end - size, size, step.from) != 0) break;
    end -= size;
  }
  text = text.substr(begin, end - begin);
}

void apply(const DecoderStep& step, bool first, std::string& text) {
  switch (step.kind) {
    case DecoderStep::Kind::byte_level:
      if (std::string bytes; append_bytes_of(bytes, text)) text = std::move(bytes);
      break;
    case DecoderStep::Kind::byte_fallback:
      if (const int byte = fallback_byte(text); byte >= 0)
        text = std::string(1, static_cast<char>(byte));
      break;
    case DecoderStep::Kind::replace:
      replace_all(text, step.from, step.to);
      break;
    case DecoderStep::Kind::metaspace:
      replace_all(text, step.from, first && step.flag ? "" : " ");
      break;
    case DecoderStep::Kind::word_piece:
      if (!first) {
        const bool inside = text.starts_with(step.from);
        text = inside ? text.substr(step.from.size()) : " " + text;
      }
      if (step.flag) tidy(text);
      break;
    case DecoderStep::Kind::join:
      if (!first) text.insert(0, 1, ' ');
      break;
    case DecoderStep::Kind::strip:
      strip(text, step);
      break;
  }
}

}  // namespace

TextDecoder::TextDecoder(const TextTable& texts, const std::vector<DecoderStep>& steps, Front front)
    : front_(std::move(front)) {
  const bool differs = std::ranges::any_of(steps, [](const DecoderStep& step) {
    return step.kind == DecoderStep::Kind::metaspace ||
           step.kind == DecoderStep::Kind::word_piece || step.kind == DecoderStep::Kind::join;
  });
  if (differs) first_.emplace();
  for (TokenId id = 0; id < texts.size(); ++id) {
    for (const bool first : {false, true}) {
      if (first && !differs) continue;
      std::string text(texts[id]);
      for (const DecoderStep& step : steps) apply(step, first, text);
      (first ? *first_ : rest_).add(text);
      longest_ = std::max(longest_, text.size());
    }
  }
}

}  // namespace mummu
