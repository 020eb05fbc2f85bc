#include "text/text_table.h"

#include <bit>

namespace mummu {

void TextIndex::reserve(int64_t count) {
  const auto slots = std::bit_ceil(static_cast<uint64_t>(count) * 2 + 2);
  slots_.assign(slots, Slot{});
  shift_ = 64 - std::countr_zero(slots);
}

bool TextIndex::insert(const TextTable& table, TokenId id) {
  const std::string_view text = table[id];
  const uint64_t hash = hash_of(text);
  const auto tag = static_cast<uint32_t>(hash);
  size_t at = hash >> shift_;
  while (slots_[at].id >= 0) {
    if (slots_[at].tag == tag && table[slots_[at].id] == text) return false;
    at = (at + 1) & (slots_.size() - 1);
  }
  slots_[at] = {tag, id};
  return true;
}

}  // namespace mummu
