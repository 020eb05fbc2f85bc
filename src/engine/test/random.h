#pragma once

// For tests: seeded random numbers that are the same on every machine and compiler.

#include <cstdint>
#include <random>

namespace mummu::test {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  // In [0, bound).
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(engine_() % static_cast<uint64_t>(bound));
  }
  // In [low, high].
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int64_t percent) { return below(100) < percent; }
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return *(values.begin() + below(static_cast<int64_t>(values.size())));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace mummu::test
