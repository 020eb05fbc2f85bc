#pragma once

// For tests: a host that steps an Engine over a fake model by hand and takes what it says.

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "engine/fake_engine.h"
#include "mummu/engine.h"

namespace mummu::test {

inline constexpr int64_t kVocab = 64, kContext = 512;

inline std::vector<TokenId> ids_from(TokenId first, int64_t count) {
  std::vector<TokenId> ids(static_cast<size_t>(count));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<TokenId>((static_cast<size_t>(first) + i * 5) % kVocab);
  return ids;
}

inline Request asked(int64_t prompt, int64_t max_tokens, TokenId first = 0,
                     RequestOptions options = {}) {
  options.max_tokens = max_tokens;
  return fake_request(ids_from(first, prompt), std::move(options));
}

inline std::vector<TokenId> expected(const Request& request, int choice = 0) {
  return expected_ids(request, kVocab, kContext, choice);
}

class Host {
 public:
  explicit Host(EngineOptions options = {}) : fake_({.engine = options, .now_ms = clock()}) {}

  RequestId admit(Request request) { return *fake_.engine.admit(std::move(request)); }
  const StepReport& step() { return **fake_.engine.step(); }

  // What the last step did to a choice; nothing where it did nothing.
  static StepReport::Choice of(const StepReport& report, RequestId id, int choice = 0) {
    for (const StepReport::Choice& each : report.choices)
      if (each.request == id && each.choice == choice) return each;
    return {};
  }

  std::vector<TokenId> take(RequestId id, int choice = 0) {
    std::vector<TokenId> ids;
    while (const Token* token = engine().take(id, choice))
      ids.insert(ids.end(), token->ids.begin(), token->ids.end());
    return ids;
  }

  // Runs everything to its end, taking what this request says.
  Completion finish(RequestId id, int choice = 0) {
    while (!engine().done(id, choice)) {
      take(id, choice);
      if (!engine().done(id, choice)) step();
    }
    return *engine().result(id, choice);
  }

  Completion answer(Request request) { return finish(admit(std::move(request))); }

  Engine& engine() { return fake_.engine; }
  FakeForward& forward() { return *fake_.forward; }
  double now = 0;

 private:
  std::function<double()> clock() {
    return [this] { return now; };
  }

  FakeEngine fake_;
};

}  // namespace mummu::test
