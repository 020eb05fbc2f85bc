#pragma once

// For tests: the roadmap's gate, for every way of driving a generation. A way is a function; the
// room of a new one adds a test that calls pass_gate with its own.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mummu/device.h"
#include "mummu/engine.h"
#include "mummu/model.h"

namespace mummu::test {

// What is to be driven, on a fresh engine.
struct Driving {
  const Device& device;
  const Model& model;
  const Model& second;  // the same weights again, for who runs the neighbours in another engine
  EngineOptions options;
  std::optional<Request> before;    // runs to its end first
  std::vector<Request> neighbours;  // admitted before the request
  Request request;
  size_t stop_after =
      0;  // the request is stopped from outside once so many ids have come; 0: never
};

// One generation, seen from the host.
struct Driven {
  std::vector<TokenId> streamed;  // ids as they came, up to the stop
  std::string text;               // texts as they came
  Completion done;
  int64_t company = 0;  // most requests that advanced together, the driven one included
};

using Drive = std::function<Result<Driven>(Driving)>;

// A device and two models of the same weights.
struct GateModels {
  Device device;
  Model first, second;
};

// Both legs, `rounds` times, odd rounds in company.
void pass_gate(const GateModels& models, const Drive& drive, int64_t rounds);

// The small Qwen2 with the real vocabulary.
void pass_gate_on_drawn_qwen2(const Drive& drive, int64_t rounds);

}  // namespace mummu::test
