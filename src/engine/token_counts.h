#pragma once

// How often each id occurs in a sequence's output, and which ids its prompt holds: what penalties
// need. A hash table whose size is set once; adding allocates nothing.

#include <bit>
#include <cstdint>
#include <vector>

#include "mummu/tokenizer.h"

namespace mummu {

class TokenCounts {
 public:
  struct Entry {
    TokenId id = -1;     // -1: empty
    int32_t output = 0;  // occurrences in the output
  };

  // Room for this many different ids.
  void reserve(int64_t ids) {
    entries_.assign(std::bit_ceil(2 * static_cast<uint64_t>(ids) + 1), {});
  }
  bool empty() const { return entries_.empty(); }

  void add_prompt(TokenId id) { find(id).id = id; }
  void add_output(TokenId id) {
    Entry& entry = find(id);
    entry.id = id;
    ++entry.output;
  }

  // All entries, the empty ones too, in no particular order.
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  Entry& find(TokenId id) {
    const size_t mask = entries_.size() - 1;
    size_t at = (static_cast<uint32_t>(id) * 0x9E3779B1U) & mask;  // 2^32 / golden ratio
    while (entries_[at].id != id && entries_[at].id != -1) at = (at + 1) & mask;
    return entries_[at];
  }

  std::vector<Entry> entries_;
};

}  // namespace mummu
