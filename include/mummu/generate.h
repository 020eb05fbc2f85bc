#pragma once

// Two ways to drive one generation on the calling thread: generate() blocks and calls back,
// Generation is asked for token after token. Both are the same engine steps, so both give the same
// bits. Other requests of the engine advance with them.

#include <functional>

#include "mummu/engine.h"
#include "mummu/export.h"
#include "mummu/request.h"
#include "mummu/result.h"

namespace mummu {

enum class Flow { go_on, stop };

// Called for every event of the request, on the thread that called generate. Returning stop ends
// the request before anything further is computed. It may admit, cancel and pause, but not step. If
// it throws, the request is cancelled, the exception passes through generate, and the engine stays
// usable.
using OnToken = std::function<Flow(const Token&)>;

// Runs a request to its end. With n > 1 the events of all choices come interleaved, and the result
// is choice 0's; generate_all gives all.
//   errors   those of Engine::admit and step; a choice that ends in an error is that error
MUMMU_API Result<Completion> generate(Engine& engine, Request request,
                                      const OnToken& on_token = {});
MUMMU_API Result<std::vector<Completion>> generate_all(Engine& engine, Request request,
                                                       const OnToken& on_token = {});

// A generation that is pulled. Destroying it cancels the request. The Engine must outlive it.
class MUMMU_API Generation {
 public:
  // An error of admit is kept: next() gives null at once and result() says why.
  Generation(Engine& engine, Request request);
  Generation(Generation&&) noexcept;
  Generation& operator=(Generation&&) noexcept;
  ~Generation();

  // The next event of any choice; steps the engine only when none is there. Null at the end. The
  // event lives until the next call on the engine.
  const Token* next();

  // How a choice ended, after next() has given null; taken once.
  Result<Completion> result(int choice = 0);

  void cancel();
  RequestId id() const { return id_; }

 private:
  Engine* engine_ = nullptr;
  RequestId id_;
  int choices_ = 0;
  int turn_ = 0;
  std::optional<Error> error_{};
};

}  // namespace mummu
