#include "engine/output.h"

#include <algorithm>

namespace mummu {

StopTexts::StopTexts(const std::vector<std::string>& texts) : texts_(texts) {
  for (const std::string& text : texts_) {
    std::vector<size_t> border(text.size(), 0);
    size_t length = 0;
    for (size_t i = 1; i < text.size(); ++i) {
      while (length > 0 && text[i] != text[length]) length = border[length - 1];
      if (text[i] == text[length]) ++length;
      border[i] = length;
    }
    borders_.push_back(std::move(border));
  }
}

size_t StopTexts::advance(size_t which, size_t matched, char byte) const {
  const std::string& text = texts_[which];
  while (matched > 0 && text[matched] != byte) matched = borders_[which][matched - 1];
  return text[matched] == byte ? matched + 1 : 0;
}

Output::Output(const Tokenizer* tokenizer, bool skip_special, const StopTexts* stops)
    : stops_(stops), matched_(stops->size(), 0) {
  if (tokenizer) decoder_.emplace(*tokenizer, skip_special);
}

bool Output::push(TokenId id, bool look_for_stops, std::string& text) {
  return decoder_ && append(decoder_->push(id), look_for_stops, text);
}

bool Output::finish(bool look_for_stops, std::string& text) {
  return decoder_ && append(decoder_->finish(), look_for_stops, text);
}

bool Output::append(std::string_view piece, bool look_for_stops, std::string& text) {
  if (!look_for_stops || matched_.empty()) {
    text += piece;
    return false;
  }
  for (char byte : piece) {
    text += byte;
    size_t complete = 0;
    held_ = 0;
    for (size_t which = 0; which < matched_.size(); ++which) {
      size_t& matched = matched_[which];
      matched = stops_->advance(which, matched, byte);
      if (matched == stops_->length(which)) complete = std::max(complete, matched);
      held_ = std::max(held_, matched);
    }
    if (complete == 0) continue;
    text.resize(text.size() - complete);
    held_ = 0;
    return true;
  }
  return false;
}

}  // namespace mummu
