#include "text/wordpiece.h"

#include <algorithm>

#include "text/utf8.h"

namespace mummu {

WordPiece::WordPiece(Pieces pieces, WordPieceOptions options)
    : pieces_(std::move(pieces)), options_(std::move(options)) {
  for (TokenId id = 0; id < pieces_.texts.size(); ++id)
    longest_ = std::max(longest_, pieces_.texts[id].size());
}

WordPiece::Found WordPiece::longest(std::string_view word, size_t at, std::string& buffer) const {
  const size_t prefix = at > 0 ? options_.prefix.size() : 0;
  buffer.assign(options_.prefix, 0, prefix);
  // Longer text than the longest piece has need not be tried.
  size_t end = std::min(word.size(), at + longest_);
  while (end < word.size() && (static_cast<unsigned char>(word[end]) & 0xc0) == 0x80) --end;
  buffer += word.substr(at, end > at ? end - at : 0);
  for (; end > at; end = code_point_before(word, end)) {
    const std::string_view tried = std::string_view(buffer).substr(0, prefix + end - at);
    const TokenId id = pieces_.find(tried);
    if (id >= 0) return {id, end};
  }
  return {-1, at};
}

void WordPiece::encode(std::string_view piece, ModelScratch&, std::vector<TokenId>& out) const {
  if (piece.size() > options_.longest_word && code_points(piece) > options_.longest_word)
    return out.push_back(options_.unknown);
  const size_t before = out.size();
  std::string buffer;
  for (size_t at = 0; at < piece.size();) {
    const Found found = longest(piece, at, buffer);
    if (found.id < 0) {
      out.resize(before);
      return out.push_back(options_.unknown);
    }
    out.push_back(found.id);
    at = found.end;
  }
}

}  // namespace mummu
