#include "text/encode.h"

#include <string>

namespace mummu {
namespace {

class Encoder {
 public:
  Encoder(const Tokenizer::Impl& tokenizer, std::vector<TokenId>& out)
      : tokenizer_(tokenizer), out_(out) {}

  // Cuts a text at the tokens that a matcher finds and hands on what lies between. `part(begin,
  // end)` gets its bytes.
  template <typename Part>
  void cut(const AddedMatcher& matcher, std::string_view text, const LevelMap& levels,
           size_t offset, const Part& part) {
    size_t done = 0, from = 0;
    for (;;) {
      const AddedMatcher::Match match = matcher.find(text, from, done, levels, offset);
      if (match.id < 0) break;
      if (done < match.begin) part(done, match.begin);
      out_.push_back(match.id);
      done = match.end;
      from = match.resume;
    }
    if (done < text.size()) part(done, text.size());
  }

  void raw(std::string_view text, const LevelMap& levels) {
    cut(tokenizer_.raw_matcher, text, levels, 0, [&](size_t begin, size_t end) {
      normalize(text.substr(begin, end - begin), levels, begin);
    });
  }

 private:
  void normalize(std::string_view text, const LevelMap& levels, size_t offset) {
    if (!tokenizer_.normalizers.empty()) {
      std::string changed(text);
      if (normalize_by_all(tokenizer_.normalizers, changed)) {
        // Which byte came from where is not kept: all of it has the highest level of the segment.
        const LevelMap highest(levels.highest(offset, offset + text.size()));
        return normalized(changed, highest, 0, offset == 0);
      }
    }
    normalized(text, levels, offset, offset == 0);
  }

  void normalized(std::string_view text, const LevelMap& levels, size_t offset, bool first) {
    cut(tokenizer_.normalized_matcher, text, levels, offset, [&](size_t begin, size_t end) {
      const Piece piece{text.substr(begin, end - begin), first && begin == 0};
      cut_by_all(tokenizer_.pre_tokenizers, 0, piece,
                 [this](Piece part) { tokenizer_.model->encode(part.text, scratch_, out_); });
    });
  }

  const Tokenizer::Impl& tokenizer_;
  std::vector<TokenId>& out_;
  ModelScratch scratch_;
};

}  // namespace

std::vector<TokenId> encode_text(const Tokenizer::Impl& tokenizer, std::string_view text,
                                 const LevelMap& levels) {
  std::vector<TokenId> out;
  out.reserve(text.size() / 4 + 4);
  Encoder(tokenizer, out).raw(text, levels);
  return out;
}

}  // namespace mummu
