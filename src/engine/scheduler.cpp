#include "engine/scheduler.h"

#include <algorithm>

namespace mummu {
namespace {

// How many of a step's rows or sequences decodes keep for prefills that want up to `wanted`: a
// quarter at most; of a step of one every other.
int64_t kept(int64_t all, int64_t wanted, uint64_t step) {
  if (all == 1 && wanted > 0) return static_cast<int64_t>(step % 2);
  return std::min(wanted, std::max<int64_t>(1, all / 4));
}

int64_t pages_for(int64_t tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }

PageTokens page_tokens(const Sequence& sequence, int64_t page) {
  return PageTokens(sequence.tokens.data() + page * kPageTokens, static_cast<size_t>(kPageTokens));
}

int priority(const Sequence& sequence) { return sequence.request->options().priority; }

}  // namespace

void Scheduler::plan(std::span<Sequence* const> live, int64_t budget, uint64_t step) {
  live_ = live;
  wanted_left_ = limits_.wanted;
  runnable_.clear();
  int64_t prefills = 0;  // sequences that have more to compute than one token
  for (Sequence* sequence : live) {
    sequence->scheduled = 0;
    const bool runs = sequence->stage == Stage::running && !is_paused(*sequence, limits_);
    const bool slot = std::ssize(runnable_) < limits_.sequences;
    prefills += runs ? sequence->need() > 1 || !sequence->started : slot && may_start(*sequence);
    if (runs) runnable_.push_back(sequence);
  }
  const int64_t kept_rows = kept(limits_.rows, prefills > 0 ? limits_.rows : 0, step);
  const int64_t kept_sequences = kept(limits_.sequences, prefills, step);
  const int64_t decodes =
      plan_decodes(std::min(limits_.rows - kept_rows, limits_.sequences - kept_sequences));
  const int64_t rows = std::min(limits_.rows - decodes, std::max(budget - decodes, kPageTokens));
  const bool any = plan_prefills(rows, limits_.sequences - decodes);
  if (decodes == 0 && !any) plan_decodes(std::min(limits_.rows, limits_.sequences));
}

// One token each, those first that were computed longest ago.
int64_t Scheduler::plan_decodes(int64_t most) {
  std::sort(runnable_.begin(), runnable_.end(), [](const Sequence* a, const Sequence* b) {
    if (priority(*a) != priority(*b)) return priority(*a) > priority(*b);
    return a->last_step != b->last_step ? a->last_step < b->last_step : outranks(*a, *b);
  });
  int64_t decodes = 0;
  for (Sequence* sequence : runnable_) {
    if (decodes == most) break;
    if (sequence->stage == Stage::running && sequence->need() == 1 && sequence->started &&
        schedule(*sequence, 1))
      ++decodes;
  }
  return decodes;
}

bool Scheduler::plan_prefills(int64_t rows, int64_t sequences) {
  bool any = false;
  bool starting = true;  // the first in rank that cannot start keeps those behind it from starting
  int64_t running = 0;   // of those that go before the sequence at hand
  for (Sequence* sequence : live_) {
    if (rows <= 0 || sequences == 0) return any;
    bool starts = false;  // then it was no decode, though its pages may be found but for one token
    if (sequence->stage == Stage::waiting && starting && may_start(*sequence))
      starts = starting = running < limits_.sequences && start(*sequence);
    if (sequence->stage != Stage::running || is_paused(*sequence, limits_)) continue;
    ++running;
    if (sequence->scheduled > 0) continue;
    if (!starts && sequence->started && sequence->need() == 1) continue;
    if (!schedule(*sequence, std::min(rows, sequence->need()))) continue;
    rows -= sequence->scheduled;
    --sequences;
    any = true;
  }
  return any;
}

int64_t Scheduler::wanted_rows(const Sequence& sequence, int64_t tokens) const {
  const int64_t end = sequence.cached + tokens;
  int64_t rows = end == sequence.total() ? 1 : 0;
  if (sequence.request->options().prompt_logprobs) {
    const int64_t first = std::max(sequence.cached, sequence.prompt_scored);
    rows += std::max<int64_t>(0, std::min(end, sequence.request->prompt_tokens() - 1) - first);
  }
  return rows;
}

// Gives a running sequence the pages for so many more tokens, or fewer where logits have no room.
bool Scheduler::schedule(Sequence& sequence, int64_t tokens) {
  const int64_t wanted = wanted_rows(sequence, tokens);
  if (wanted > wanted_left_) tokens -= wanted - wanted_left_;
  if (tokens <= 0 || !own_last_page(sequence)) return false;
  const auto needed = static_cast<size_t>(pages_for(sequence.cached + tokens));
  while (sequence.pages.size() < needed) {
    int32_t page = kNoPage;
    if (!take_page(sequence, page)) return false;
    sequence.pages.push_back(page);
  }
  wanted_left_ -= wanted_rows(sequence, tokens);
  sequence.scheduled = tokens;
  sequence.started = true;
  return true;
}

// Copies the partly filled page that the sequence will write to, if others hold it too. Those who
// lose their pages meanwhile may be all of these others.
bool Scheduler::own_last_page(Sequence& sequence) {
  if (sequence.cached % kPageTokens == 0) return true;
  const auto last = static_cast<size_t>(sequence.cached / kPageTokens);
  while (pages_.holders(sequence.pages[last]) > 1) {
    const int32_t page = pages_.take();
    if (page == kNoPage && !preempt_for(sequence)) return false;
    if (page == kNoPage) continue;
    forward_.copy_page(sequence.pages[last], page);
    pages_.release(sequence.pages[last]);
    sequence.pages[last] = page;
  }
  return true;
}

bool Scheduler::take_page(Sequence& sequence, int32_t& page) {
  while ((page = pages_.take()) == kNoPage)
    if (!preempt_for(sequence)) return false;
  return true;
}

// Takes the pages of a paused sequence or of one that the running sequence outranks, the last in
// rank first. Where there is none, it loses its own and waits.
bool Scheduler::preempt_for(Sequence& sequence) {
  Sequence* victim = nullptr;
  for (size_t i = live_.size(); i-- > 0;) {
    Sequence* other = live_[i];
    if (other == &sequence || other->pages.empty()) continue;
    const bool paused = is_paused(*other, limits_);
    if (paused) victim = other;
    if (paused) break;
    if (!victim && outranks(sequence, *other)) victim = other;
  }
  preempt(victim ? *victim : sequence);
  return victim != nullptr;
}

bool Scheduler::may_start(const Sequence& sequence) const {
  return sequence.stage == Stage::waiting && !is_paused(sequence, limits_) &&
         (sequence.choice == 0 || sequence.started || sequence.request->prompt_done);
}

// Takes all pages that a waiting sequence's tokens need, those that are cached and those that are
// not.
bool Scheduler::start(Sequence& sequence) {
  find_prefix(sequence);
  const int64_t pages = pages_for(sequence.total());
  const int64_t missing = pages - static_cast<int64_t>(sequence.pages.size());
  if (!make_room(sequence, missing)) {
    pages_.release_all(sequence.pages);
    sequence.cached = sequence.known_pages = 0;
    return false;
  }
  for (int64_t i = 0; i < missing; ++i) sequence.pages.push_back(pages_.take());
  sequence.stage = Stage::running;
  sequence.noted = true;
  sequence.note.cached_tokens = sequence.cached;
  if (!sequence.started) sequence.completion.usage.cached_tokens = sequence.cached;
  return true;
}

// Holds the cached pages that its tokens begin with: never the last token, whose logits are wanted,
// nor any prompt token whose log-probability is.
void Scheduler::find_prefix(Sequence& sequence) {
  if (!limits_.prefix_cache) return;
  const bool scores = sequence.request->options().prompt_logprobs &&
                      sequence.prompt_scored + 1 < sequence.request->prompt_tokens();
  const int64_t limit = scores ? sequence.prompt_scored : sequence.total() - 1;
  int32_t parent = kNoPage;
  for (int64_t i = 0; i < limit / kPageTokens; ++i) {
    const int32_t page = pages_.cache().find(parent, page_tokens(sequence, i));
    if (page == kNoPage) break;
    pages_.hold(page);
    sequence.pages.push_back(page);
    parent = page;
  }
  sequence.known_pages = static_cast<int64_t>(sequence.pages.size());
  sequence.cached = sequence.known_pages * kPageTokens;
}

bool Scheduler::yields_to_waiting(const Sequence& victim, const Sequence& sequence) const {
  if (&victim == &sequence || victim.pages.empty()) return false;
  return is_paused(victim, limits_) || priority(victim) < priority(sequence);
}

// Pages that a waiting sequence could get from others: those whose every holder would yield.
int64_t Scheduler::reclaimable(const Sequence& sequence) {
  std::fill(yielded_.begin(), yielded_.end(), 0);
  int64_t pages = 0;
  for (const Sequence* other : live_) {
    if (!yields_to_waiting(*other, sequence)) continue;
    for (int32_t page : other->pages)
      pages += ++yielded_[static_cast<size_t>(page)] == pages_.holders(page);
  }
  return pages;
}

// Makes so many pages available to a waiting sequence, and one more for each running sequence that
// goes before it, so that it is not the next to be preempted. Preempts nobody in vain.
bool Scheduler::make_room(const Sequence& sequence, int64_t pages) {
  for (const Sequence* other : runnable_)
    pages += other->stage == Stage::running && outranks(*other, sequence);
  if (pages_.available() >= pages) return true;
  if (pages_.available() + reclaimable(sequence) < pages) return false;
  for (const bool paused : {true, false})
    for (size_t i = live_.size(); i-- > 0 && pages_.available() < pages;)
      if (yields_to_waiting(*live_[i], sequence) && is_paused(*live_[i], limits_) == paused)
        preempt(*live_[i]);
  return pages_.available() >= pages;
}

void Scheduler::preempt(Sequence& sequence) {
  pages_.release_all(sequence.pages);
  sequence.cached = sequence.scheduled = sequence.known_pages = 0;
  sequence.stage = Stage::waiting;
  sequence.noted = true;
  sequence.note.preempted = true;
}

void Scheduler::settle(Sequence& sequence) {
  sequence.cached += sequence.scheduled;
  sequence.scheduled = 0;
  if (!limits_.prefix_cache) return;
  for (; sequence.known_pages < sequence.cached / kPageTokens; ++sequence.known_pages) {
    const auto at = static_cast<size_t>(sequence.known_pages);
    const int32_t parent = at == 0 ? kNoPage : sequence.pages[at - 1];
    const int32_t mine = sequence.pages[at];
    const int32_t shown =
        pages_.cache().insert(parent, page_tokens(sequence, sequence.known_pages), mine);
    if (shown == mine) continue;
    pages_.hold(shown);  // another sequence computed the same: equal bits, one copy
    pages_.release(mine);
    sequence.pages[at] = shown;
  }
}

void Scheduler::rewind(Sequence& sequence) {
  if (sequence.scheduled == 0) return;
  sequence.scheduled = 0;
  sequence.cached -= sequence.cached % kPageTokens;
}

}  // namespace mummu
