#pragma once

// A scenario puts one op through one set of shapes and inputs and returns everything it wrote. The
// reference defines the result; every device must return the same bits.

#include <functional>
#include <string>
#include <vector>

#include "device/test/bed.h"

namespace mummu::test {

struct Scenario {
  std::string name;
  std::function<std::vector<float>(Bed&)> run;
};

std::vector<Scenario> embedding_scenarios();
std::vector<Scenario> gather_scenarios();
std::vector<Scenario> rms_norm_scenarios();
std::vector<Scenario> matmul_scenarios();
std::vector<Scenario> gated_scenarios();
std::vector<Scenario> rope_scenarios();
std::vector<Scenario> kv_write_scenarios();
std::vector<Scenario> attention_scenarios();
std::vector<Scenario> short_conv_scenarios();
std::vector<Scenario> route_scenarios();
std::vector<Scenario> experts_scenarios();
std::vector<Scenario> layer_norm_scenarios();
std::vector<Scenario> gelu_scenarios();
std::vector<Scenario> add_scenarios();
std::vector<Scenario> pool_scenarios();
std::vector<Scenario> l2_norm_scenarios();

struct OpScenarios {
  const char* op;
  std::vector<Scenario> (*scenarios)();
};
inline constexpr OpScenarios kOpScenarios[] = {
    {"embedding", embedding_scenarios},
    {"gather", gather_scenarios},
    {"rms_norm", rms_norm_scenarios},
    {"matmul", matmul_scenarios},
    {"gated", gated_scenarios},
    {"rope", rope_scenarios},
    {"kv_write", kv_write_scenarios},
    {"attention", attention_scenarios},
    {"short_conv", short_conv_scenarios},
    {"route", route_scenarios},
    {"experts", experts_scenarios},
    {"layer_norm", layer_norm_scenarios},
    {"gelu", gelu_scenarios},
    {"add", add_scenarios},
    {"pool", pool_scenarios},
    {"l2_norm", l2_norm_scenarios},
};

inline constexpr DType kWeightTypes[] = {DType::f32,  DType::f16,  DType::bf16, DType::q8_0,
                                         DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1,
                                         DType::q4_k, DType::q5_k, DType::q6_k};

inline void append(std::vector<float>& all, const std::vector<float>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace mummu::test
