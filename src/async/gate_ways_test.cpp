// The roadmap's gate (src/engine/test/gate.h) through every way of driving. MUMMU_GATE=all gives
// each as many rounds as the callback has (tool/nightly.sh).

#include <gtest/gtest.h>

#include <cstdlib>

#include "async/test/way.h"
#include "base/sanitized.h"

namespace mummu::test {
namespace {

int64_t rounds() {
  const char* asked = std::getenv("MUMMU_GATE");
  if (asked && std::string_view(asked) == "all") return 200;
  return kSanitized ? 5 : 25;
}

class GateWays : public testing::TestWithParam<Way> {};

TEST_P(GateWays, seeded_deterministic_and_cancellable) {
  pass_gate_on_drawn_qwen2(GetParam().drive, rounds());
}

INSTANTIATE_TEST_SUITE_P(Every, GateWays, testing::ValuesIn(ways()),
                         [](const auto& way) { return std::string(way.param.name); });

}  // namespace
}  // namespace mummu::test
