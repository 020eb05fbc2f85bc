// Every op on every instruction set of this machine, with one and several threads and in hostile
// modes of the host, equals reference/ to the bit; and all of them reproduce golden/hashes.txt.
// MUMMU_UPDATE_GOLDEN=1 writes that file anew from the reference: a change there is a change of the
// arithmetic contract, and needs a new version of it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "base/test_fixture.h"
#include "device/machine.h"
#include "device/test/compare.h"
#include "device/test/scenario.h"
#include "mummu/version.h"

namespace mummu::test {
namespace {

constexpr Isa kIsas[] = {Isa::reference, Isa::avx2, Isa::avx512};

const char* isa_word(Isa isa) {
  return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "reference";
}

Device open(Isa isa, int threads = 1) {
  auto device = open_device("cpu", {.parallel = Threads(threads), .isa = isa});
  EXPECT_TRUE(device) << device.error().message;
  return *std::move(device);
}

std::vector<float> run(const Scenario& scenario, Device& device, HostMode mode = HostMode::usual) {
  Bed bed(device.ops(), mode);
  return scenario.run(bed);
}

std::string golden_name(const char* op, const Scenario& scenario) {
  return fmt::format("{}: {}", op, scenario.name);
}

// golden/hashes.txt: a line for the contract's version, then one "hash op: scenario" a line.
std::map<std::string, std::string> read_golden() {
  std::map<std::string, std::string> hashes;
  std::ifstream file(golden("hashes.txt"));
  for (std::string line; std::getline(file, line);) {
    const size_t space = line.find(' ');
    if (space != std::string::npos) hashes[line.substr(space + 1)] = line.substr(0, space);
  }
  return hashes;
}

class EveryIsa : public testing::TestWithParam<std::tuple<OpScenarios, Isa>> {
 protected:
  void SetUp() override {
    if (!cpu_has(isa())) GTEST_SKIP() << "skipped: this CPU has no " << isa_word(isa());
  }
  std::vector<Scenario> scenarios() const { return std::get<0>(GetParam()).scenarios(); }
  const char* op() const { return std::get<0>(GetParam()).op; }
  Isa isa() const { return std::get<1>(GetParam()); }
};

TEST_P(EveryIsa, equals_the_reference_to_the_bit) {
  Device reference = open(Isa::reference);
  Device one = open(isa());
  Device two = open(isa(), 2);
  Device three = open(isa(), 3);
  for (const Scenario& scenario : scenarios()) {
    SCOPED_TRACE(scenario.name);
    const std::vector<float> expected = run(scenario, reference);
    EXPECT_TRUE(same_bits(expected, run(scenario, one, HostMode::flushing_rounding_down)))
        << "a host that flushes denormals and rounds down";
    EXPECT_TRUE(same_bits(expected, run(scenario, three, HostMode::flushing_rounding_down)))
        << "such a host and three threads";
    if (isa() == Isa::reference) continue;  // slow, and `expected` is it
    EXPECT_TRUE(same_bits(expected, run(scenario, one)));
    EXPECT_TRUE(same_bits(expected, run(scenario, two))) << "two threads";
    EXPECT_TRUE(same_bits(expected, run(scenario, three))) << "three threads";
  }
}

TEST_P(EveryIsa, reproduces_the_golden_hashes) {
  const auto hashes = read_golden();
  ASSERT_FALSE(hashes.empty()) << "no " << golden("hashes.txt");
  EXPECT_EQ(hashes.at("contract"), kContract);
  Device device = open(isa(), 2);
  for (const Scenario& scenario : scenarios()) {
    const auto found = hashes.find(golden_name(op(), scenario));
    ASSERT_NE(found, hashes.end()) << scenario.name << " is missing in golden/hashes.txt";
    EXPECT_EQ(found->second, fmt::format("{:016x}", hash_of(run(scenario, device))))
        << scenario.name;
  }
}

std::string case_name(const testing::TestParamInfo<EveryIsa::ParamType>& info) {
  return fmt::format("{}_{}", std::get<0>(info.param).op, isa_word(std::get<1>(info.param)));
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryIsa,
                         testing::Combine(testing::ValuesIn(kOpScenarios),
                                          testing::ValuesIn(kIsas)),
                         case_name);

TEST(Golden, the_file_lists_every_scenario_and_nothing_else) {
  std::ostringstream text;
  text << kContract << " contract\n";
  size_t lines = 1;
  Device reference = open(Isa::reference, 2);
  const bool update = std::getenv("MUMMU_UPDATE_GOLDEN") != nullptr;
  for (const OpScenarios& each : kOpScenarios) {
    for (const Scenario& scenario : each.scenarios()) {
      ++lines;
      if (!update) continue;
      text << fmt::format("{:016x} {}\n", hash_of(run(scenario, reference)),
                          golden_name(each.op, scenario));
    }
  }
  if (update) std::ofstream(golden("hashes.txt")) << text.str();
  EXPECT_EQ(read_golden().size(), lines);
}

// A result of NaNs only would equal any other: odd inputs must leave something to compare.
TEST(Scenarios, results_are_numbers_for_the_most_part) {
  Device reference = open(Isa::reference, 2);
  for (const OpScenarios& each : kOpScenarios) {
    for (const Scenario& scenario : each.scenarios()) {
      const std::vector<float> values = run(scenario, reference);
      const auto numbers =
          std::count_if(values.begin(), values.end(), [](float v) { return !std::isnan(v); });
      EXPECT_GE(10 * numbers, std::ssize(values)) << each.op << ": " << scenario.name;
    }
  }
}

}  // namespace
}  // namespace mummu::test
