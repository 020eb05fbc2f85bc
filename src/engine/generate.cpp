#include "mummu/generate.h"

#include "base/fail.h"
#include "engine/engine_impl.h"

namespace mummu {
namespace {

// Marks that foreign code runs, however it leaves.
class CallbackScope {
 public:
  explicit CallbackScope(Engine::Impl& engine) : engine_(engine) {
    engine_.role.assume();
    outer_ = std::exchange(engine_.in_callback, true);
  }
  ~CallbackScope() {
    engine_.role.assume();
    engine_.in_callback = outer_;
  }
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

 private:
  Engine::Impl& engine_;
  bool outer_ = false;
};

// Forgets a request at the end of a scope, however it is left.
class Admitted {
 public:
  Admitted(Engine& engine, RequestId id) : engine_(engine), id_(id) {}
  ~Admitted() { engine_.forget(id_); }
  Admitted(const Admitted&) = delete;
  Admitted& operator=(const Admitted&) = delete;

 private:
  Engine& engine_;
  RequestId id_;
};

// Tells the callback everything that is there to take.
Flow tell(Engine& engine, RequestId id, int choices, const OnToken& on_token) {
  for (int choice = 0; choice < choices; ++choice)
    while (const Token* token = engine.take(id, choice)) {
      if (!on_token) continue;
      const Token told = *token;  // the callback may call take itself
      const CallbackScope scope(engine.impl());
      if (on_token(told) == Flow::stop) return Flow::stop;
    }
  return Flow::go_on;
}

bool all_done(const Engine& engine, RequestId id, int choices) {
  for (int choice = 0; choice < choices; ++choice)
    if (!engine.done(id, choice)) return false;
  return true;
}

Result<void> drive(Engine& engine, RequestId id, int choices, const OnToken& on_token) {
  while (!all_done(engine, id, choices)) {
    MUMMU_TRY(const StepReport* report, engine.step());
    const bool moved = report->sequences > 0 || !report->choices.empty();
    if (tell(engine, id, choices, on_token) == Flow::stop) {
      Engine::Impl& impl = engine.impl();
      impl.role.assume();
      impl.stop_where_taken(id);
      return {};
    }
    if (!moved && !engine.has_work() && !all_done(engine, id, choices))
      return fail(Error::invalid, "the request is paused, and nothing that runs can resume it");
  }
  return {};
}

}  // namespace

Result<std::vector<Completion>> generate_all(Engine& engine, Request request,
                                             const OnToken& on_token) {
  const auto choices = static_cast<int>(request.options.n);
  MUMMU_TRY(const RequestId id, engine.admit(std::move(request)));
  const Admitted admitted(engine, id);
  MUMMU_TRY(drive(engine, id, choices, on_token));
  std::vector<Completion> all;
  for (int choice = 0; choice < choices; ++choice) {
    MUMMU_TRY(auto completion, engine.result(id, choice));
    if (completion.finish == Finish::error) return std::move(completion.error);
    all.push_back(std::move(completion));
  }
  return all;
}

Result<Completion> generate(Engine& engine, Request request, const OnToken& on_token) {
  MUMMU_TRY(auto all, generate_all(engine, std::move(request), on_token));
  return std::move(all.front());
}

Generation::Generation(Engine& engine, Request request)
    : engine_(&engine), choices_(static_cast<int>(request.options.n)) {
  auto id = engine.admit(std::move(request));
  if (id)
    id_ = *id;
  else
    error_ = std::move(id).error();
}

Generation::Generation(Generation&& other) noexcept
    : engine_(std::exchange(other.engine_, nullptr)),
      id_(other.id_),
      choices_(other.choices_),
      turn_(other.turn_),
      error_(std::move(other.error_)) {}

Generation& Generation::operator=(Generation&& other) noexcept {
  if (this == &other) return *this;
  if (engine_) engine_->forget(id_);
  engine_ = std::exchange(other.engine_, nullptr);
  id_ = other.id_;
  choices_ = other.choices_;
  turn_ = other.turn_;
  error_ = std::move(other.error_);
  return *this;
}

Generation::~Generation() {
  if (engine_) engine_->forget(id_);
}

// Choices take turns, so that one of them cannot hold the others back.
const Token* Generation::next() {
  while (engine_ && !error_) {
    for (int i = 0; i < choices_; ++i) {
      const int choice = turn_;
      turn_ = (turn_ + 1) % choices_;
      if (const Token* token = engine_->take(id_, choice)) return token;
    }
    if (all_done(*engine_, id_, choices_)) return nullptr;
    auto report = engine_->step();
    const bool moved = report && ((*report)->sequences > 0 || !(*report)->choices.empty());
    if (!report) error_ = std::move(report).error();
    if (!moved && !engine_->has_work()) return nullptr;
  }
  return nullptr;
}

Result<Completion> Generation::result(int choice) {
  if (!engine_) return fail(Error::invalid, "this generation was moved from");
  if (error_) return *error_;
  return engine_->result(id_, choice);
}

void Generation::cancel() {
  if (engine_) engine_->cancel(id_);
}

}  // namespace mummu
