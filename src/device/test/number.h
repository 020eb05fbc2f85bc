#pragma once

// Seeded inputs for tests of ops. Floats are put together from random bits by whole numbers only,
// so they are the same on every machine and in every floating-point mode of the test.

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/dtype.h"
#include "base/philox.h"

namespace mummu::test {

enum class Kind {
  ordinary,  // magnitudes from 2^-6 to 2, both signs
  odd,       // in places also zeros, denormals, very small, very large, infinities and NaNs
};

class Numbers {
 public:
  explicit Numbers(uint64_t seed, Kind kind = Kind::ordinary) : seed_(seed), kind_(kind) {}

  uint32_t word() { return random_words(seed_, next_++, 0)[0]; }
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(word() % static_cast<uint64_t>(bound));
  }

  float value() {
    const uint32_t bits = word();
    const uint32_t sign_and_fraction = bits & 0x807FFFFFU;
    if (kind_ == Kind::odd && below(60) == 0) return odd(sign_and_fraction);
    return std::bit_cast<float>(sign_and_fraction | (121 + (word() % 7)) << 23);
  }

  std::vector<float> values(int64_t count) {
    std::vector<float> out(static_cast<size_t>(count));
    for (float& v : out) v = value();
    return out;
  }

  // `count` floats of which about one in `every` is odd.
  std::vector<float> mostly_ordinary(int64_t count, int64_t every) {
    std::vector<float> out = Numbers(word()).values(count);
    for (float& v : out) {
      if (below(every) == 0) v = odd(std::bit_cast<uint32_t>(v) & 0x807FFFFFU);
    }
    return out;
  }

  // A scale of a quantised block: an f16 of 2^-9 to 2^-3, or if odd sometimes any f16.
  uint16_t scale() {
    const uint32_t bits = word();
    if (kind_ == Kind::odd && below(30) == 0) return static_cast<uint16_t>(bits);
    return static_cast<uint16_t>((bits & 0x83FFU) | (6 + bits % 7) << 10);
  }

 private:
  float odd(uint32_t sign_and_fraction) {
    const uint32_t sign = sign_and_fraction & 0x80000000U;
    const uint32_t exponents[] = {0, 0, 1, 27, 100, 140, 200, 254};
    switch (below(12)) {
      case 0:
        return std::bit_cast<float>(sign);
      case 1:
        return std::bit_cast<float>(sign | 0x7F800000U);
      case 2:
        return std::bit_cast<float>(sign | 0x7FC00001U);
      case 3:
        return std::bit_cast<float>(sign | 1U);
      default:
        return std::bit_cast<float>(sign_and_fraction | exponents[below(8)] << 23);
    }
  }

  uint64_t seed_;
  Kind kind_;
  int64_t next_ = 0;
};

// `columns`, raised to whole blocks of a type.
constexpr int64_t whole_blocks(DType type, int64_t columns) {
  const int64_t block = is_quantised(type) ? info(type).elements : 1;
  return (columns + block - 1) / block * block;
}

// A matrix of any type that a device computes with, as a file holds it.
inline std::vector<std::byte> weight_bytes(DType type, int64_t rows, int64_t columns, uint64_t seed,
                                           Kind kind = Kind::ordinary) {
  Numbers numbers(seed, kind);
  std::vector<std::byte> bytes(static_cast<size_t>(rows * row_bytes(type, columns)));
  auto put = [&, at = size_t{0}](const void* from, size_t count) mutable {
    std::memcpy(bytes.data() + at, from, count);
    at += count;
  };
  const auto put_half = [&](uint16_t half) { put(&half, sizeof half); };
  const int64_t words = (info(type).bytes - (has_minimum(type) ? 4 : 2)) / 4;
  for (int64_t i = 0; i < rows * columns / info(type).elements; ++i) {
    if (type == DType::f32) {
      const float value = numbers.value();
      put(&value, sizeof value);
    } else if (type == DType::bf16) {
      put_half(static_cast<uint16_t>(std::bit_cast<uint32_t>(numbers.value()) >> 16));
    } else if (type != DType::q6_k) {
      put_half(numbers.scale());
    }
    if (!is_quantised(type)) continue;
    if (has_minimum(type)) put_half(numbers.scale());
    for (int64_t j = 0; j < words; ++j) {
      const uint32_t word = numbers.word();
      put(&word, sizeof word);
    }
    if (type == DType::q6_k) put_half(numbers.scale());  // stands last
  }
  return bytes;
}

}  // namespace mummu::test
