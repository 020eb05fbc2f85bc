#pragma once

// For tests: a Forward whose logits are a hash of everything that its pages say about a sequence's
// prefix, so that any lost, mixed up or wrongly reused page changes the answer. Each page also
// keeps a running state, as layers with a short memory do: the hash after its last position, which
// is read where a segment begins in mid-page and cannot be written twice without harm.

#include <array>
#include <cassert>
#include <functional>
#include <vector>

#include "engine/forward.h"

namespace mummu::test {

inline uint64_t mix(uint64_t h, uint64_t value) {
  h ^= value + 0x9E3779B97F4A7C15 + (h << 6) + (h >> 2);
  h *= 0xBF58476D1CE4E5B9;
  return h ^ (h >> 31);
}

// The row of logits after a prefix with this hash: all different, in [-8, 8).
inline void fake_logits(uint64_t hash, std::span<float> row) {
  for (size_t i = 0; i < row.size(); ++i)
    row[i] = static_cast<float>(mix(hash, i) >> 44) * 0x1p-16F - 8.0F;
}

inline uint64_t prefix_hash(std::span<const TokenId> ids) {
  uint64_t hash = 1;
  for (TokenId id : ids) hash = mix(hash, static_cast<uint64_t>(id));
  return mix(hash, ids.size());
}

class FakeForward final : public Forward {
 public:
  FakeForward(int64_t vocab, int64_t context) : vocab_(vocab), context_(context) {}

  // Called in the middle of every run.
  std::function<void()> during_run;
  // Where it says so, the step fails.
  std::function<Result<void>()> outcome;
  // Changes a row of logits before it is returned.
  std::function<void(std::span<float>)> edit_row;
  int64_t runs = 0;
  int64_t rows = 0;
  int64_t wanted_rows = 0;  // of them, those whose logits were asked for
  int64_t copies = 0;

  int64_t vocab() const override { return vocab_; }
  int64_t context() const override { return context_; }
  int64_t page_bytes() const override { return sizeof(Page); }

  Result<void> reserve(int64_t pages, int64_t tokens, int64_t wanted) override {
    pages_.resize(static_cast<size_t>(pages));
    most_rows_ = tokens;
    most_wanted_ = wanted;
    return {};
  }

  Result<void> run(const Batch& batch, std::span<float> logits) override {
    assert(static_cast<int64_t>(batch.ids.size()) <= most_rows_);
    assert(static_cast<int64_t>(batch.wanted.size()) <= most_wanted_);
    ++runs;
    rows += static_cast<int64_t>(batch.ids.size());
    wanted_rows += static_cast<int64_t>(batch.wanted.size());
    if (outcome) MUMMU_TRY(outcome());
    size_t wanted = 0;
    for (const Segment& segment : batch.segments) {
      uint64_t state = state_before(segment);
      for (int64_t i = 0; i < segment.tokens; ++i) {
        const auto row = static_cast<size_t>(segment.first_row + i);
        const int64_t position = segment.position + i;
        assert(batch.positions[row] == position);
        state = mix(state, static_cast<uint64_t>(batch.ids[row]));
        write(segment, position, batch.ids[row], state);
        if (wanted == batch.wanted.size() || batch.wanted[wanted] != static_cast<int32_t>(row))
          continue;
        const auto columns = static_cast<size_t>(vocab_);
        const auto out = logits.subspan(wanted++ * columns, columns);
        fake_logits(seen_hash(segment, position, state), out);
        if (edit_row) edit_row(out);
      }
    }
    assert(wanted == batch.wanted.size());
    if (during_run) during_run();
    if (batch.stop && batch.stop->load()) return Error{Error::cancelled, "stopped between layers"};
    return {};
  }

  void copy_page(int32_t from, int32_t to) override {
    ++copies;
    page(to) = page(from);
  }

 private:
  struct Page {
    std::array<TokenId, 16> ids = {};
    int64_t state_position = -1;
    uint64_t state = 0;
  };

  Page& page(int32_t index) { return pages_[static_cast<size_t>(index)]; }
  Page& page_of(const Segment& segment, int64_t position) {
    return page(segment.pages[static_cast<size_t>(position / kPageTokens)]);
  }

  // The state after position - 1; a state of any other position is told apart for ever.
  uint64_t state_before(const Segment& segment) {
    if (segment.position == 0) return 1;
    const Page& before = page_of(segment, segment.position - 1);
    return before.state_position == segment.position - 1 ? before.state : 0xDEAD;
  }

  void write(const Segment& segment, int64_t position, TokenId id, uint64_t state) {
    Page& written = page_of(segment, position);
    written.ids[static_cast<size_t>(position % kPageTokens)] = id;
    written.state_position = position;
    written.state = state;
  }

  // What all pages say of the prefix; equal to prefix_hash if they are right.
  uint64_t seen_hash(const Segment& segment, int64_t position, uint64_t state) {
    uint64_t hash = 1;
    for (int64_t p = 0; p <= position; ++p)
      hash =
          mix(hash,
              static_cast<uint64_t>(page_of(segment, p).ids[static_cast<size_t>(p % kPageTokens)]));
    if (hash != state) hash = mix(hash, 0xBAD);
    return mix(hash, static_cast<uint64_t>(position + 1));
  }

  int64_t vocab_, context_;
  int64_t most_rows_ = 0, most_wanted_ = 0;
  std::vector<Page> pages_;
};

}  // namespace mummu::test
