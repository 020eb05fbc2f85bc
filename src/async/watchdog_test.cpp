// Every test of this program has a watchdog: a deadlock ends it by SIGALRM.

#include <gtest/gtest.h>
#include <unistd.h>

namespace mummu::test {
namespace {

constexpr unsigned kSeconds = 180;

class Watchdog : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { alarm(kSeconds); }
  void OnTestEnd(const testing::TestInfo&) override { alarm(0); }
};

const bool installed = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Watchdog);
  return true;
}();

}  // namespace
}  // namespace mummu::test
