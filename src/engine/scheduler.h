#pragma once

// Decides what a step computes: which sequences, how many tokens of each, and whose pages are taken
// for that. Decoding and prefilling are the same thing, a sequence whose cached count is behind its
// total; those that are one token behind go first, the rest share what the step has left.
//
// Pages: a running sequence may take them from paused ones and from those it outranks; a waiting
// one from paused ones and from those of lower priority. The first in rank therefore always gets
// what it needs, and nothing starves among equals.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/forward.h"
#include "engine/pages.h"
#include "engine/sequence.h"

namespace mummu {

struct StepLimits {
  int64_t rows = 0;       // tokens of one step, by memory
  int64_t wanted = 0;     // rows with logits, by memory
  int64_t sequences = 0;  // max_sequences
  int64_t pending = 0;    // max_pending
  bool prefix_cache = true;
};

// Whether a sequence stands still because somebody paused it or nobody takes its events.
inline bool is_paused(const Sequence& sequence, const StepLimits& limits) {
  return sequence.request->paused || static_cast<int64_t>(sequence.events.size()) >= limits.pending;
}

class Scheduler {
 public:
  Scheduler(Pages& pages, Forward& forward, StepLimits limits)
      : pages_(pages), forward_(forward), limits_(limits) {}

  // Room for this many live sequences; plan allocates nothing after this.
  void reserve(int64_t sequences) {
    runnable_.reserve(static_cast<size_t>(sequences));
    yielded_.resize(static_cast<size_t>(pages_.count()));
  }

  // Sets `scheduled` of every live sequence, and gives it the pages for that.
  //   requires  live in rank order
  void plan(std::span<Sequence* const> live, int64_t budget, uint64_t step);

  // Takes a sequence's pages; it waits and will be recomputed.
  void preempt(Sequence& sequence);

  // After a step was computed: counts its positions as cached and makes full pages findable.
  void settle(Sequence& sequence);
  // After a step was not: what the partly filled page of a scheduled sequence holds is not
  // trusted.
  void rewind(Sequence& sequence);

 private:
  int64_t plan_decodes(int64_t most);
  bool plan_prefills(int64_t rows, int64_t sequences);
  bool schedule(Sequence& sequence, int64_t tokens);
  bool may_start(const Sequence& sequence) const;
  bool start(Sequence& sequence);
  void find_prefix(Sequence& sequence);
  bool make_room(const Sequence& sequence, int64_t pages);
  int64_t reclaimable(const Sequence& sequence);
  bool yields_to_waiting(const Sequence& victim, const Sequence& sequence) const;
  bool take_page(Sequence& sequence, int32_t& page);
  bool preempt_for(Sequence& sequence);
  bool own_last_page(Sequence& sequence);
  int64_t wanted_rows(const Sequence& sequence, int64_t tokens) const;

  Pages& pages_;
  Forward& forward_;
  StepLimits limits_;
  std::span<Sequence* const> live_;
  std::vector<Sequence*> runnable_;
  std::vector<int32_t> yielded_;  // of each page, how many of its holders would yield it
  int64_t wanted_left_ = 0;
};

}  // namespace mummu
