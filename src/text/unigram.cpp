#include "text/unigram.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/utf8.h"

namespace mummu {
namespace {

// How much worse than the worst token an unknown character is.
//   source   SentencePiece's unigram_model.cc, kUnkPenalty
constexpr double kUnknownPenalty = 10;

}  // namespace

Unigram::Unigram(const Pieces& pieces, std::vector<double> scores, const UnigramOptions& options)
    : scores_(std::move(scores)), options_(options) {
  std::vector<std::string_view> texts;
  for (TokenId id = 0; id < pieces.texts.size(); ++id) texts.push_back(pieces.texts[id]);
  trie_ = ByteTrie(texts);
  for (int byte = 0; byte < 256; ++byte)
    byte_ids_[static_cast<size_t>(byte)] = pieces.find(fmt::format("<0x{:02X}>", byte));
  if (!scores_.empty()) unknown_score_ = *std::ranges::min_element(scores_) - kUnknownPenalty;
}

// The best way to each byte: the sum of scores, the last token and where that begins.
void Unigram::search(std::string_view piece, std::vector<ModelScratch::Step>& steps) const {
  steps.assign(piece.size() + 1, {0, -1, -1});
  const auto offer = [&](size_t from, size_t to, double score, TokenId id) {
    ModelScratch::Step& step = steps[to];
    const double sum = steps[from].score + score;
    if (step.from < 0 || sum > step.score) step = {sum, id, static_cast<int32_t>(from)};
  };
  for (size_t at = 0; at < piece.size();) {
    const size_t next = at + static_cast<size_t>(code_point_at(piece, at).size);
    bool single = false;
    trie_.prefixes(piece, at, [&](int32_t id, size_t end) {
      offer(at, end, scores_[static_cast<size_t>(id)], id);
      single = single || end == next;
    });
    if (!single) offer(at, next, unknown_score_, options_.unknown);
    at = next;
  }
}

void Unigram::encode(std::string_view piece, ModelScratch& scratch,
                     std::vector<TokenId>& out) const {
  std::vector<ModelScratch::Step>& steps = scratch.steps;
  search(piece, steps);
  // From the end back; unknown characters in a row are one.
  struct Part {
    size_t begin, end;
    TokenId id;
  };
  std::vector<Part> parts;
  for (size_t end = piece.size(); end > 0;) {
    const ModelScratch::Step& step = steps[end];
    const auto begin = static_cast<size_t>(step.from);
    const bool joins =
        step.id == options_.unknown && !parts.empty() && parts.back().id == options_.unknown;
    if (joins) parts.back().begin = begin;
    if (!joins) parts.push_back({begin, end, step.id});
    end = begin;
  }
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->id == options_.unknown) {
      append_unknown(piece.substr(part->begin, part->end - part->begin), out);
    } else {
      out.push_back(part->id);
    }
  }
}

void Unigram::append_unknown(std::string_view text, std::vector<TokenId>& out) const {
  const auto id = [this](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
  if (options_.byte_fallback &&
      std::ranges::all_of(text, [&](char byte) { return id(byte) >= 0; })) {
    for (const char byte : text) out.push_back(id(byte));
  } else if (options_.unknown >= 0) {
    out.push_back(options_.unknown);
  }
}

}  // namespace mummu
