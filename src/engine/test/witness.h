#pragma once

// For tests: a Forward over one device's model that also reads back every page it fills. What a
// full page holds must follow from the tokens up to its end and nothing else, so two pages of the
// same beginning must be equal to the byte, whoever computed them and how.

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <vector>

#include "engine/fake_forward.h"
#include "engine/forward.h"
#include "engine/logits_hash.h"

namespace mummu::test {

// The hash of a beginning of whole pages to the hash of its last page's bytes. Kept for as long as
// its weights and its KV type are the same.
using PageBytes = std::map<uint64_t, uint64_t>;

class WitnessForward final : public Forward {
 public:
  // All must outlive it.
  WitnessForward(Ops& ops, const Decoder& decoder, DType kv, PageBytes& seen)
      : ops_(ops), decoder_(decoder), kv_(kv), seen_(seen) {}

  int64_t vocab() const override { return decoder_.vocab(); }
  int64_t context() const override { return decoder_.context(); }
  int64_t page_bytes() const override { return decoder_.page_bytes(kv_); }

  Result<void> reserve(int64_t pages, int64_t tokens, int64_t wanted) override {
    MUMMU_TRY(state_, decoder_.make_state(
                          ops_, {.pages = pages, .tokens = tokens, .wanted = wanted, .kv = kv_}));
    hashes_.resize(static_cast<size_t>(pages));
    bytes_.resize(static_cast<size_t>(page_bytes()) / sizeof(float));
    return {};
  }

  Result<void> run(const Batch& batch, std::span<float> logits) override {
    MUMMU_TRY(decoder_.run(ops_, state_, batch, logits));
    for (const Segment& segment : batch.segments)
      for (int64_t i = 0; i < segment.tokens; ++i)
        write(segment, segment.position + i, batch.ids[static_cast<size_t>(segment.first_row + i)]);
    return {};
  }

  void copy_page(int32_t from, int32_t to) override {
    decoder_.copy_page(ops_, state_, from, to);
    hashes_[static_cast<size_t>(to)] = hashes_[static_cast<size_t>(from)];
  }

 private:
  // hashes_[page]: of all tokens up to the last that was written to the page.
  void write(const Segment& segment, int64_t position, TokenId id) {
    const auto page = static_cast<size_t>(segment.pages[static_cast<size_t>(position / 16)]);
    if (position == 0) {
      hashes_[page] = 1;
    } else if (position % 16 == 0) {
      const auto before = segment.pages[static_cast<size_t>(position / 16 - 1)];
      hashes_[page] = hashes_[static_cast<size_t>(before)];
    }
    hashes_[page] = mix(hashes_[page], static_cast<uint64_t>(id));
    if (position % 16 != 15) return;
    ops_.download(state_.pool.rows(static_cast<int64_t>(page), 1), bytes_.data());
    const uint64_t bytes = hash_logits(0, bytes_);
    const auto [known, first] = seen_.emplace(hashes_[page], bytes);
    EXPECT_EQ(known->second, bytes)
        << "the page that ends at position " << position << " holds other bytes";
  }

  Ops& ops_;
  const Decoder& decoder_;
  DType kv_;
  PageBytes& seen_;
  DecoderState state_;
  std::vector<uint64_t> hashes_;
  std::vector<float> bytes_;
};

}  // namespace mummu::test
