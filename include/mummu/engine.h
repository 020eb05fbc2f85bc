#pragma once

// Many requests, one model, no thread. The host admits requests and calls step() until it is idle;
// each step runs the model once over every sequence that can move. An Engine is used from one
// thread at a time and starts none. It must not outlive its Model. What a request answers does not
// depend on what else the engine runs.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "mummu/export.h"
#include "mummu/request.h"
#include "mummu/result.h"

namespace mummu {

// How keys and values are kept. q8_0: int8 with one scale for 32 components of a head.
enum class KvType { f32, f16, bf16, q8_0 };

struct EngineOptions {
  int64_t context =
      0;  // tokens one sequence may hold, prompt and answer; 0: what the checkpoint declares
  int64_t kv_tokens = 0;  // tokens of KV memory for all sequences; 0: one context
  KvType kv = KvType::f16;
  int64_t max_sequences = 64;  // computed together
  int64_t max_waiting = 1024;  // admitted and not yet running; more: busy
  int64_t max_pending = 64;  // events kept for a choice that nobody takes; at that bound it pauses
  int64_t step_tokens = 0;   // most tokens computed in one step; 0: what takes about step_ms
  double step_ms = 50;
  bool prefix_cache = true;
  LogSink log = {};
};

struct RequestId {
  uint64_t value = 0;
  friend bool operator==(RequestId, RequestId) = default;
};

// What happened to a choice: a token, or the end, or both. The views live until the next call on
// the engine.
struct Token {
  int choice = 0;
  std::string_view text;  // whole code points; may be empty while a stop text is still possible
  std::span<const TokenId> ids;  // what was generated; empty in an event that only ends the choice
  std::span<const TokenLogprob> logprobs;  // one per id, if asked
  Finish finish = Finish::none;            // not none in the last event of the choice
};

// What one step did.
struct StepReport {
  struct Choice {
    RequestId request;
    int choice = 0;
    int64_t computed = 0;       // tokens of it in this step's forward
    int64_t generated = 0;      // events it produced
    int64_t cached_tokens = 0;  // prompt tokens it found when it started in this step
    bool preempted = false;     // lost its pages in this step; it will be recomputed
    Finish finish = Finish::none;
    std::string_view text;  // what this step added to the answer, as in Token
    std::span<const TokenId> ids;
    std::span<const TokenLogprob> logprobs;
  };
  std::span<const Choice> choices;               // every choice that something happened to
  int64_t tokens = 0;                            // computed in this step
  int64_t sequences = 0;                         // in this step's forward
  int64_t running = 0, waiting = 0, paused = 0;  // after the step
  int64_t pages_used = 0, pages_free = 0;
  double milliseconds = 0;
};

class MUMMU_API Engine {
 public:
  // Allocates on the first admit.
  explicit Engine(const Model& model, EngineOptions options = {});
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // Checks the request as a whole and queues its choices.
  //   errors   invalid, too_long (prompt and context in the message), no_memory (can never fit:
  //   with the numbers),
  //            busy (max_waiting)
  Result<RequestId> admit(Request request);

  // Runs the model once over everything that can move. The report lives until the next call on the
  // engine. An engine with nothing to do reports zero sequences.
  //   errors   device_lost (all choices have ended), invalid (called from inside a callback)
  Result<const StepReport*> step();

  // Whether step() would compute something.
  bool has_work() const;

  // The next event of a choice, or null when there is none now. The event lives until the next call
  // on the engine.
  const Token* take(RequestId id, int choice = 0);

  // Whether the last event of a choice has been taken; true for ids the engine does not know.
  bool done(RequestId id, int choice = 0) const;

  // What a choice came to, once its last event has been taken; the engine forgets it by that.
  //   errors   not_found, invalid (it has not ended)
  Result<Completion> result(RequestId id, int choice = 0);

  // Ends all choices of a request. Their next event says so; pages return at once.
  void cancel(RequestId id);
  // A paused request keeps its pages while nobody needs them, and computes nothing.
  void pause(RequestId id);
  void resume(RequestId id);
  // Ends a request without a last event: the engine knows it no more.
  void forget(RequestId id);

  // False for an engine that was moved from, or had no memory: every call says so.
  explicit operator bool() const { return impl_ != nullptr; }

  struct Impl;
  Impl& impl() { return *impl_; }
  explicit Engine(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace mummu
