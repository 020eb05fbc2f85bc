#pragma once

// For tests: an Engine over a FakeForward, and what it must answer.

#include <memory>
#include <utility>
#include <vector>

#include "engine/engine_impl.h"
#include "engine/fake_forward.h"
#include "engine/sampler.h"

namespace mummu::test {

struct FakeOptions {
  int64_t vocab = 64;
  int64_t context = 512;
  std::vector<TokenId> end_ids = {};
  EngineOptions engine = {};
  const Tokenizer* tokenizer = nullptr;
  std::function<double()> now_ms = {};
};

struct FakeEngine {
  explicit FakeEngine(FakeOptions options = {}) : FakeEngine(std::move(options), nullptr) {}

  FakeForward* forward;  // inside the engine
  Engine engine;

 private:
  FakeEngine(FakeOptions options, std::unique_ptr<FakeForward> made)
      : forward(nullptr), engine(nullptr) {
    made = std::make_unique<FakeForward>(options.vocab, options.context);
    forward = made.get();
    engine = Engine(std::make_unique<Engine::Impl>(EngineParts{.forward = std::move(made),
                                                               .tokenizer = options.tokenizer,
                                                               .model = nullptr,
                                                               .end_ids = options.end_ids,
                                                               .now_ms = options.now_ms},
                                                   options.engine));
  }
};

inline Request fake_request(std::vector<TokenId> prompt, RequestOptions options = {}) {
  return {nullptr, std::move(prompt), std::move(options)};
}

// The ids that a request without stops, penalties and ends must be answered with.
inline std::vector<TokenId> expected_ids(const Request& request, int64_t vocab, int64_t context,
                                         int choice = 0) {
  RowScan scan;
  Sampler sampler;
  scan.reserve(vocab);
  sampler.reserve(vocab);
  std::vector<float> row(static_cast<size_t>(vocab));
  std::vector<TokenId> all = request.prompt, ids;
  while (static_cast<int64_t>(ids.size()) < request.options.max_tokens &&
         static_cast<int64_t>(all.size()) < context) {
    fake_logits(prefix_hash(all), row);
    scan.look(row, false);
    const auto position = static_cast<int64_t>(all.size());
    const Draw draw = {request.options.seed, position, choice};
    ids.push_back(*sampler.pick(row, scan, request.options, draw));
    all.push_back(ids.back());
  }
  return ids;
}

// Steps until nothing can move.
inline void run_out(Engine& engine) {
  while (engine.has_work())
    if (!engine.step()) return;
}

}  // namespace mummu::test
