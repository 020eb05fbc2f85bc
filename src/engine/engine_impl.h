#pragma once

// The engine behind its public edge: what it keeps, and the step schedule -> forward -> sample ->
// retire. The edge (engine.cpp) catches exceptions and fixes the float environment; nothing here
// does.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

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

namespace mummu {

// What an engine is made of. Tests put a fake Forward and a clock of their own here.
struct EngineParts {
  std::unique_ptr<Forward> forward;
  const Tokenizer* tokenizer = nullptr;  // null: answers have ids and no text
  const Model::Impl* model = nullptr;    // whose Requests are taken
  std::vector<TokenId> end_ids;
  std::function<double()> now_ms;  // empty: the steady clock
};

struct Engine::Impl {
  Impl(EngineParts parts, EngineOptions options);

  // The public functions of Engine, without its edge.
  Result<RequestId> admit(Request request);
  Result<const StepReport*> step();
  bool has_work() const;
  const Token* take(RequestId id, int choice);
  bool done(RequestId id, int choice) const;
  Result<Completion> result(RequestId id, int choice);
  void cancel(RequestId id);
  void set_paused(RequestId id, bool paused);
  void forget(RequestId id);

  // For a Worker, which checks on the thread that submits.
  // Sizes and allocates everything that steps need; the first admit does it otherwise.
  Result<void> prepare();
  // All checks of admit but `busy`. After prepare any thread may call it, at any time.
  Result<void> check(const Request& request) const;
  const Model::Impl* model() const { return model_; }
  int64_t max_waiting() const { return options_.max_waiting; }
  int64_t pages_used() const { return pages_.used(); }
  int64_t pages_free() const { return pages_.available(); }

  // Cancels, and takes back what was generated and not yet taken, so that what was told is the
  // answer.
  void stop_where_taken(RequestId id);
  // Ends everything: the device is gone, or memory ran out in the middle of a step.
  void fail_all(const Error& error);

  bool in_callback = false;  // step is refused meanwhile

 private:
  struct Sizes {  // what prepare settled
    int64_t context = 0;
    int64_t columns = 0;  // of a row of logits
    int64_t vocab = 0;    // ids that may be emitted
    StepLimits limits;
  };

  // admission (admit.cpp)
  Result<Sizes> sizes() const;
  Result<void> check_fits(const Request& request) const;
  Result<void> check_waiting(int64_t choices) const;
  Result<std::unique_ptr<RequestState>> make_request(Request request);
  Result<std::unique_ptr<Sequence>> make_sequence(RequestState& request, int choice);
  void reserve_live(size_t more);
  int64_t waiting() const;

  // step (step.cpp)
  void begin_report();
  void sweep();
  void make_batch();
  void add_rows(Sequence& sequence);
  Result<bool> run_forward();
  void retire_step();
  const StepReport* end_report(double started_ms);

  // sampling (sample.cpp)
  std::span<const float> logits_row(int64_t wanted) const;
  void score_prompt(Sequence& sequence);
  void end_not_finite(Sequence& sequence, int64_t position);
  void complete(Sequence& sequence);
  void fork(const Sequence& leader, Sequence& sequence);
  void sample(Sequence& sequence, std::span<const float> row);
  void accept(Sequence& sequence, TokenId id, std::span<const float> row);
  void add_logprob(std::vector<TokenLogprob>& to, Sequence& sequence, TokenId id,
                   std::span<const float> row);
  bool ends_answer(const Sequence& sequence, TokenId id) const;

  // choices (choice.cpp)
  RequestState* find(RequestId id) const;
  Sequence* find(RequestId id, int choice) const;
  void note(Sequence& sequence);
  void emit(Sequence& sequence);
  void end(Sequence& sequence, Finish finish);
  void end(Sequence& sequence, Error error);
  void drop_ended();

  EngineOptions options_;
  std::unique_ptr<Forward> forward_;
  const Tokenizer* tokenizer_;
  const Model::Impl* model_;
  std::vector<TokenId> end_ids_;
  std::function<double()> now_ms_;

  Sizes sizes_;
  Pages pages_;
  std::optional<Scheduler> scheduler_;  // empty until the first admit
  StepBudget budget_;
  RowScan scan_;
  LogitEditor editor_;
  Sampler sampler_;

  std::unordered_map<uint64_t, std::unique_ptr<RequestState>> requests_;
  std::vector<Sequence*> live_;  // waiting or running, in rank order
  uint64_t last_id_ = 0;
  uint64_t step_ = 0;
  CancelWatch::Live watched_;

  std::vector<TokenId> ids_;  // the batch
  std::vector<int32_t> positions_;
  std::vector<Segment> segments_;
  std::vector<int32_t> wanted_;
  std::unique_ptr<float[]> logits_;

  Token token_;  // what take returned
  StepReport report_;
  std::vector<StepReport::Choice> report_choices_;
};

}  // namespace mummu
