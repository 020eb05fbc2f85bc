#pragma once

// For tests: the determinism matrix. A row is one way of running the same request: in which
// company, in which chunks, with which pages found or lost, on which device. All rows of a model
// and a KV type must give the same bits.

#include <cstdint>
#include <string>
#include <vector>

namespace mummu::test {

struct Factor {
  const char* name;
  std::vector<const char*> levels;
};

enum FactorIndex { kCrowd, kChunk, kPrefix, kPreempted, kPaused, kThreads, kIsa, kKv, kMode };

inline const std::vector<Factor> kFactors = {
    {"crowd", {"alone", "seven", "late", "cancelled"}},
    {"chunk", {"1", "7", "16", "64", "all"}},
    {"prefix", {"cold", "hit", "evicted"}},
    {"preempted", {"0", "1", "3"}},
    {"paused", {"no", "yes"}},
    {"threads", {"1", "2", "3", "own"}},
    {"isa", {"reference", "avx2", "avx512"}},
    {"kv", {"f32", "f16", "bf16", "q8_0"}},
    {"mode", {"usual", "hostile"}},
};

// A level of every factor.
struct Row {
  // The factors must outlive it.
  explicit Row(const std::vector<Factor>& of = kFactors) : factors(&of), level(of.size()) {}

  const char* operator[](size_t factor) const {
    return (*factors)[factor].levels[static_cast<size_t>(level[factor])];
  }
  std::string name() const;

  const std::vector<Factor>* factors;
  std::vector<int> level;
};

// Rows in which every two levels of any two factors meet at least once.
std::vector<Row> pairwise_rows(uint64_t seed, const std::vector<Factor>& factors = kFactors);

// Every combination.
std::vector<Row> all_rows(const std::vector<Factor>& factors = kFactors);

// What MUMMU_MATRIX asks for: all rows ("all"), or the K-th of N equal parts of them ("K/N", K from
// 0), so that many cores share the work. None: it asks for nothing.
std::vector<Row> asked_rows(const std::vector<Factor>& factors = kFactors);

}  // namespace mummu::test
