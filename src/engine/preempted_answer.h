#pragma once

// For tests: the answer of a request whose pages are taken from it again and again.

#include <string>
#include <vector>

#include "engine/fake_engine.h"

namespace mummu::test {

struct PreemptedAnswer {
  Completion done;
  std::string streamed;
  int64_t preempted = 0;  // times
};

// Over 12 pages; others of higher priority come and take 11 of them.
//   requires  at most 170 tokens of prompt and answer
inline PreemptedAnswer answer_preempted(const Request& request, FakeOptions options) {
  options.engine.kv_tokens = 192;
  FakeEngine fake(std::move(options));
  PreemptedAnswer out;
  const auto id = *fake.engine.admit(request);
  std::vector<RequestId> others;
  for (int64_t step = 0; !fake.engine.done(id); ++step) {
    if (step % 9 == 5) {
      const std::vector<TokenId> prompt(170, static_cast<TokenId>(step % 60));
      others.push_back(*fake.engine.admit(fake_request(prompt, {.max_tokens = 4, .priority = 1})));
    }
    const auto report = fake.engine.step();
    if (!report) return out;
    for (const auto& choice : (*report)->choices)
      out.preempted += choice.request == id && choice.preempted;
    while (const Token* token = fake.engine.take(id)) out.streamed += token->text;
    for (const RequestId other : others)
      while (fake.engine.take(other)) continue;
  }
  out.done = *fake.engine.result(id);
  return out;
}

}  // namespace mummu::test
