#pragma once

// Counter-based random numbers: a pure function of (seed, position, choice), so that nothing has to
// be stored or restored when a sequence is preempted, and no other request can move a draw.
//   source  J. Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (SC11), Philox4x32-10

#include <array>
#include <cstdint>

namespace mummu {

// One block of Philox4x32-10: 128 bits of counter and 64 bits of key to 128 random bits.
constexpr std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                             std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// Four random words for one token: the one at `position` of choice `choice` under `seed`.
constexpr std::array<uint32_t, 4> random_words(uint64_t seed, int64_t position, int64_t choice) {
  const auto p = static_cast<uint64_t>(position);
  const auto c = static_cast<uint64_t>(choice);
  return philox4x32({static_cast<uint32_t>(p), static_cast<uint32_t>(p >> 32),
                     static_cast<uint32_t>(c), static_cast<uint32_t>(c >> 32)},
                    {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

// A uniform number in [0, 1): the upper 53 bits of the first two words, a multiple of 2^-53.
constexpr double random_uniform(uint64_t seed, int64_t position, int64_t choice) {
  const auto words = random_words(seed, position, choice);
  const uint64_t bits = uint64_t{words[0]} << 32 | words[1];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace mummu
