#include "engine/logits_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace mummu {

uint64_t hash_logits(uint64_t so_far, std::span<const float> row) {
  return XXH3_64bits_withSeed(row.data(), row.size_bytes(), so_far);
}

}  // namespace mummu
