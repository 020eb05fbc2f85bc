#pragma once

// For tests: a random life of an engine, every action of it told to a PlainModel.

#include "engine/test/plain_model.h"
#include "engine/test/random.h"

namespace mummu::test {

// What a schedule draws its requests and its engine from.
struct ScheduleShape {
  int64_t vocab = 0;
  int64_t context = 0;
  int64_t longest_prompt = 0, longest_answer = 0;
  int64_t actions = 0;
};

// The engine's options of a schedule: tiny pools, small steps, few sequences, in many combinations;
// every third has pages enough for everything.
EngineOptions random_options(Random& random, const ScheduleShape& shape, bool roomy);

// Lives through one schedule and returns what came about.
PlainModel::Seen run_schedule(Random& random, const ScheduleShape& shape, World world);

}  // namespace mummu::test
