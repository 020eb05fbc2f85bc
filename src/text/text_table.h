#pragma once

// Texts by number and numbers by text: the two directions of a vocabulary, each in one flat
// allocation. Immutable once filled; any number of threads may look things up.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mummu/tokenizer.h"

namespace mummu {

// The text of each id, all bytes in one piece.
class TextTable {
 public:
  void add(std::string_view text) {
    bytes_ += text;
    ends_.push_back(bytes_.size());
  }
  int64_t size() const { return static_cast<int64_t>(ends_.size()); }
  //   requires  0 <= id < size()
  std::string_view operator[](TokenId id) const {
    const auto i = static_cast<size_t>(id);
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {bytes_.data() + begin, ends_[i] - begin};
  }

 private:
  std::string bytes_;
  std::vector<size_t> ends_;
};

// Text to id, over the texts of a table that must outlive it. Open addressing, at most half full.
class TextIndex {
 public:
  // Ready for so many texts; drops what was in it.
  void reserve(int64_t count);

  // Puts an id in. False if its text is there already; the first one stays.
  //   requires  room reserved
  bool insert(const TextTable& table, TokenId id);

  // The id of a text, or -1.
  TokenId find(const TextTable& table, std::string_view text) const {
    if (slots_.empty()) return -1;
    const uint64_t hash = hash_of(text);
    const auto tag = static_cast<uint32_t>(hash);
    for (size_t at = hash >> shift_;; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.id < 0) return -1;
      if (slot.tag == tag && table[slot.id] == text) return slot.id;
    }
  }

 private:
  struct Slot {
    uint32_t tag = 0;
    TokenId id = -1;
  };

  // Eight bytes at a time, mixed by a multiplication with an odd constant (2^64 divided by the
  // golden ratio).
  static uint64_t hash_of(std::string_view text) {
    constexpr uint64_t kMix = 0x9e3779b97f4a7c15u;
    uint64_t hash = text.size() * kMix;
    const char* at = text.data();
    size_t left = text.size();
    for (; left >= 8; left -= 8, at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, at, 8);
      hash = mixed(hash ^ word) * kMix;
    }
    uint64_t word = 0;
    for (size_t i = 0; i < left; ++i)
      word |= uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
    return mixed(hash ^ word) * kMix;
  }
  static uint64_t mixed(uint64_t x) { return (x ^ (x >> 32)) * 0xd6e8feb86659fd93u; }

  std::vector<Slot> slots_;
  int shift_ = 64;
};

// The pieces of a model by id. Ids that no text may become (control tokens) have an empty text and
// are not in the index.
struct Pieces {
  TextTable texts;
  TextIndex index;

  TokenId find(std::string_view text) const { return index.find(texts, text); }
};

}  // namespace mummu
