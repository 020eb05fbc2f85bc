#pragma once

// For tests: what an engine must do, said plainly. It is told every call and every report, predicts
// what can be predicted (refusals, who may be ended, that something moves, who starts first, which
// prompt tokens are found) and compares every answer with the one that the request gets alone.

#include <functional>
#include <set>
#include <stop_token>
#include <vector>

#include "mummu/engine.h"

namespace mummu::test {

// What a choice answers when nobody disturbs it.
struct Truth {
  std::vector<TokenId> ids;
  Finish finish = Finish::none;
  uint64_t logits_hash = 0;  // 0: not known
};

struct Known {  // a choice, as its host sees it
  Truth truth;
  std::vector<TokenId> told, taken;  // by reports, by take
  int64_t pending = 0;               // events not taken
  int64_t position = 0;              // tokens computed or found
  bool placed = false;               // has pages
  bool started = false, ended = false;
  bool stood = false;  // paused when the step began
  Finish finish = Finish::none;
};

struct Tracked {  // a request
  RequestId id;
  Request request;
  std::vector<Known> choices{};
  std::stop_source stop{};
  double deadline = -1;
  bool paused = false;
};

struct World {
  Engine* engine = nullptr;
  EngineOptions options;
  int64_t context = 0, pages = 0;
  double* now = nullptr;
  bool roomy = false;   // pages never run out: nothing is preempted or evicted
  bool scores = false;  // some requests want prompt logprobs
  bool counts_allocations = false;
  std::function<Truth(const Request&, int choice)> truth;
  std::function<void(Request&)> adopt;  // makes a request one of the engine's model
};

class PlainModel {
 public:
  explicit PlainModel(World world) : world_(std::move(world)) {}

  void admit(Request request, std::stop_source stop);
  void step();
  void take(size_t request, int choice);
  void take_all();
  void set_paused(size_t request, bool paused);
  void cancel(size_t request);
  void stop(size_t request);  // by its stop_token

  size_t requests() const { return tracked_.size(); }
  const Tracked& tracked(size_t request) const { return tracked_[request]; }
  bool any_live() const;
  int64_t tokens() const;  // of all requests, prompt and answer at most
  // Takes every result and compares it with the truth.
  void finish();

  // How often what the schedules are for came about.
  struct Seen {
    int64_t refused = 0, preempted = 0, cached = 0, expired = 0, crowds = 0, stopped = 0;

    Seen& operator+=(const Seen& more) {
      refused += more.refused;
      preempted += more.preempted;
      cached += more.cached;
      expired += more.expired;
      crowds += more.crowds;
      stopped += more.stopped;
      return *this;
    }
  };
  Seen seen;

 private:
  Error::Code expected_refusal(const Request& request) const;
  bool is_paused(const Tracked& tracked, const Known& known) const;
  bool is_expired(const Tracked& tracked) const;
  bool can_move(const Tracked& tracked, const Known& known) const;
  void check_sums(const StepReport& report) const;
  void read_choice(const StepReport::Choice& choice);
  void follow_pages(const Tracked& tracked, Known& known, const StepReport::Choice& choice) const;
  void check_start(const Tracked& tracked, const StepReport::Choice& choice) const;
  void check_order(const std::vector<const Known*>& unstarted) const;
  void check_preemption(const StepReport& report) const;
  void remember_prefixes();
  int64_t known_prefix(const Tracked& tracked) const;
  void check_result(Tracked& tracked, int choice);
  Tracked* find(RequestId id);

  World world_;
  std::vector<Tracked> tracked_;
  std::set<std::vector<TokenId>> prefixes_;  // of 16, 32, ... tokens, computed before this step
};

}  // namespace mummu::test
