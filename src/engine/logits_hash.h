#pragma once

// A running hash over the bits of logits rows: equal answers have equal hashes.
//   source   XXH3, 64 bits, seeded with the hash so far (github.com/Cyan4973/xxHash)

#include <cstdint>
#include <span>

namespace mummu {

uint64_t hash_logits(uint64_t so_far, std::span<const float> row);

}  // namespace mummu
