// Every test of this program has a watchdog: a deadlock ends it by SIGALRM.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/sanitized.h"

namespace mummu::test {
namespace {

// The long runs of tool/nightly.sh have longer.
unsigned seconds() {
  for (const char* name : {"MUMMU_STRESS", "MUMMU_GATE", "MUMMU_MATRIX"})
    if (std::getenv(name)) return 7200;
  return kSanitized ? 540 : 180;
}

class Watchdog : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { alarm(seconds()); }
  void OnTestEnd(const testing::TestInfo&) override { alarm(0); }
};

const bool installed = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Watchdog);
  return true;
}();

}  // namespace
}  // namespace mummu::test
