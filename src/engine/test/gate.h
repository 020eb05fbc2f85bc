#pragma once

// For tests: the roadmap's gate, for every way of driving a generation. A way is a function; a new
// one (a worker, a coroutine) adds a test that calls pass_gate with its own.

#include <functional>
#include <string>
#include <vector>

#include "mummu/engine.h"
#include "mummu/model.h"

namespace mummu::test {

// One generation, seen from the host.
struct Driven {
  std::vector<TokenId> streamed;  // ids as they came
  std::string text;               // texts as they came
  Completion done;
  int64_t company = 0;  // most requests, the driven one included, that advanced between its first
                        // and its last token
};

// Runs `request` on a fresh engine, beside `neighbours` (admitted before it), and stops it from
// outside once `stop_after` ids have come (0: never).
using Drive = std::function<Result<Driven>(const Model& model, const EngineOptions& options,
                                           std::vector<Request> neighbours, Request request,
                                           size_t stop_after)>;

// Both legs, `rounds` times, odd rounds in company.
void pass_gate(const Model& model, const Drive& drive, int64_t rounds);

// The small Qwen2 with the real vocabulary, and 200 rounds (fewer under sanitizers).
void pass_gate_on_drawn_qwen2(const Drive& drive);

}  // namespace mummu::test
