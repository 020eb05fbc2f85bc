#pragma once

// The engine behind its public edge: what it keeps, and the step schedule -> forward -> sample ->
// retire. The edge (engine.cpp) catches exceptions and fixes the float environment; nothing here
// does. One thread at a time uses an engine: it has the engine's role, which the edge takes for
// granted, and clang checks that what has no role touches nothing that needs it.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/role.h"
#include "engine/forward.h"
#include "engine/logit_rules.h"
#include "engine/logprob.h"
#include "engine/pages.h"
#include "engine/row.h"
#include "engine/sampler.h"
#include "engine/scheduler.h"
#include "engine/sequence.h"
#include "engine/step_budget.h"
#include "mummu/engine.h"
#include "mummu/thread_facts.h"

namespace mummu {

// An engine's own, and nobody else's; nothing in them remembers a thread.
template <>
struct ThreadFacts<Forward> : MovableOnly {};
template <>
struct ThreadFacts<Pages> : MovableOnly {};
template <>
struct ThreadFacts<Scheduler> : MovableOnly {};
template <>
struct ThreadFacts<StepBudget> : MovableOnly {};
template <>
struct ThreadFacts<RowScan> : MovableOnly {};
template <>
struct ThreadFacts<LogitEditor> : MovableOnly {};
template <>
struct ThreadFacts<Sampler> : MovableOnly {};
template <>
struct ThreadFacts<RequestState> : MovableOnly {};
template <>
struct ThreadFacts<Sequence*> : MovableOnly {};  // into a RequestState beside it
template <>
struct ThreadFacts<Segment> : MovableOnly {};  // into a Sequence beside it
template <>
struct ThreadFacts<StepReport::Choice> : MovableOnly {};  // into a Sequence beside it
// Called by whoever uses the engine: its log, and its clock.
template <>
struct ThreadFacts<EngineOptions> : MovableOnly {};
template <>
struct ThreadFacts<std::function<double()>> : MovableOnly {};

// What an engine is made of. Tests put a fake Forward and a clock of their own here.
struct EngineParts {
  std::unique_ptr<Forward> forward;
  const Tokenizer* tokenizer = nullptr;  // null: answers have ids and no text
  const Model::Impl* model = nullptr;    // whose Requests are taken
  std::vector<TokenId> end_ids;
  std::function<double()> now_ms;  // empty: the steady clock
};

struct Engine::Impl {
  using thread_members =
      ThreadMembers<EngineOptions, const Tokenizer*, const Model::Impl*, std::vector<TokenId>,
                    std::unique_ptr<Forward>, std::function<double()>, Pages,
                    std::optional<Scheduler>, StepBudget, RowScan, LogitEditor, Sampler,
                    std::unique_ptr<RequestState>, std::vector<Sequence*>, std::vector<int32_t>,
                    std::vector<Segment>, Token, std::vector<StepReport::Choice>>;

  Impl(EngineParts parts, EngineOptions options);

  // Of the one thread that uses the engine.
  Role role;

  // The public functions of Engine, without its edge.
  Result<RequestId> admit(Request request) MUMMU_REQUIRES(role);
  Result<const StepReport*> step() MUMMU_REQUIRES(role);
  bool has_work() const MUMMU_REQUIRES(role);
  const Token* take(RequestId id, int choice) MUMMU_REQUIRES(role);
  bool done(RequestId id, int choice) const MUMMU_REQUIRES(role);
  Result<Completion> result(RequestId id, int choice) MUMMU_REQUIRES(role);
  void cancel(RequestId id) MUMMU_REQUIRES(role);
  void set_paused(RequestId id, bool paused) MUMMU_REQUIRES(role);
  void forget(RequestId id) MUMMU_REQUIRES(role);

  // For a Worker, which checks on the thread that submits.
  // Sizes and allocates everything that steps need; the first admit does it otherwise.
  Result<void> prepare() MUMMU_REQUIRES(role);
  // All checks of admit but `busy`. After prepare any thread may call it, at any time.
  Result<void> check(const Request& request) const;
  const Model::Impl* model() const { return model_; }
  int64_t max_waiting() const { return options_.max_waiting; }
  int64_t pages_used() const MUMMU_REQUIRES(role) { return pages_.used(); }
  int64_t pages_free() const MUMMU_REQUIRES(role) { return pages_.available(); }

  // Cancels, and takes back what was generated and not yet taken, so that what was told is the
  // answer.
  void stop_where_taken(RequestId id) MUMMU_REQUIRES(role);
  // Ends everything: the device is gone, or memory ran out in the middle of a step.
  void fail_all(const Error& error) MUMMU_REQUIRES(role);

  bool in_callback MUMMU_GUARDED_BY(role) = false;  // step is refused meanwhile

 private:
  struct Sizes {  // what prepare settled
    int64_t context = 0;
    int64_t pages = 0;    // of keys and values
    int64_t columns = 0;  // of a row of logits
    int64_t vocab = 0;    // ids that may be emitted
    StepLimits limits;
  };

  // admission (admit.cpp)
  Result<Sizes> sizes() const MUMMU_REQUIRES(role);
  Result<void> check_fits(const Request& request) const;
  Result<void> check_waiting(int64_t choices) const MUMMU_REQUIRES(role);
  Result<std::unique_ptr<RequestState>> make_request(Request request) MUMMU_REQUIRES(role);
  Result<std::unique_ptr<Sequence>> make_sequence(RequestState& request, int choice)
      MUMMU_REQUIRES(role);
  void reserve_live(size_t more) MUMMU_REQUIRES(role);
  int64_t waiting() const MUMMU_REQUIRES(role);

  // step (step.cpp)
  void begin_report() MUMMU_REQUIRES(role);
  void sweep() MUMMU_REQUIRES(role);
  void make_batch() MUMMU_REQUIRES(role);
  void add_rows(Sequence& sequence) MUMMU_REQUIRES(role);
  Result<bool> run_forward() MUMMU_REQUIRES(role);
  void retire_step() MUMMU_REQUIRES(role);
  const StepReport* end_report(double started_ms) MUMMU_REQUIRES(role);

  // sampling (sample.cpp)
  std::span<const float> logits_row(int64_t wanted) const MUMMU_REQUIRES(role);
  void score_prompt(Sequence& sequence) MUMMU_REQUIRES(role);
  void end_not_finite(Sequence& sequence, int64_t position) MUMMU_REQUIRES(role);
  void complete(Sequence& sequence) MUMMU_REQUIRES(role);
  void fork(const Sequence& leader, Sequence& sequence) MUMMU_REQUIRES(role);
  void sample(Sequence& sequence, std::span<const float> row) MUMMU_REQUIRES(role);
  void accept(Sequence& sequence, TokenId id, std::span<const float> row) MUMMU_REQUIRES(role);
  void add_logprob(std::vector<TokenLogprob>& to, Sequence& sequence, TokenId id,
                   std::span<const float> row) MUMMU_REQUIRES(role);
  bool ends_answer(const Sequence& sequence, TokenId id) const MUMMU_REQUIRES(role);

  // choices (choice.cpp)
  RequestState* find(RequestId id) const MUMMU_REQUIRES(role);
  Sequence* find(RequestId id, int choice) const MUMMU_REQUIRES(role);
  void note(Sequence& sequence) MUMMU_REQUIRES(role);
  void emit(Sequence& sequence) MUMMU_REQUIRES(role);
  void end(Sequence& sequence, Finish finish) MUMMU_REQUIRES(role);
  void end(Sequence& sequence, Error error) MUMMU_REQUIRES(role);
  void drop_ended() MUMMU_REQUIRES(role);

  // Constant once prepare has returned.
  EngineOptions options_;
  const Tokenizer* tokenizer_;
  const Model::Impl* model_;
  std::vector<TokenId> end_ids_;
  Sizes sizes_;

  std::unique_ptr<Forward> forward_ MUMMU_GUARDED_BY(role);
  std::function<double()> now_ms_ MUMMU_GUARDED_BY(role);
  Pages pages_ MUMMU_GUARDED_BY(role);
  std::optional<Scheduler> scheduler_ MUMMU_GUARDED_BY(role);  // empty until the first admit
  StepBudget budget_ MUMMU_GUARDED_BY(role);
  RowScan scan_ MUMMU_GUARDED_BY(role);
  LogitEditor editor_ MUMMU_GUARDED_BY(role);
  Sampler sampler_ MUMMU_GUARDED_BY(role);

  std::unordered_map<uint64_t, std::unique_ptr<RequestState>> requests_ MUMMU_GUARDED_BY(role);
  std::vector<Sequence*> live_ MUMMU_GUARDED_BY(role);  // waiting or running, in rank order
  uint64_t last_id_ MUMMU_GUARDED_BY(role) = 0;
  uint64_t step_ MUMMU_GUARDED_BY(role) = 0;
  CancelWatch::Live watched_ MUMMU_GUARDED_BY(role);

  std::vector<TokenId> ids_ MUMMU_GUARDED_BY(role);  // the batch
  std::vector<int32_t> positions_ MUMMU_GUARDED_BY(role);
  std::vector<Segment> segments_ MUMMU_GUARDED_BY(role);
  std::vector<int32_t> wanted_ MUMMU_GUARDED_BY(role);
  std::unique_ptr<float[]> logits_ MUMMU_GUARDED_BY(role);

  Token token_ MUMMU_GUARDED_BY(role);  // what take returned
  StepReport report_ MUMMU_GUARDED_BY(role);
  std::vector<StepReport::Choice> report_choices_ MUMMU_GUARDED_BY(role);
};

}  // namespace mummu
