#pragma once

// For tests: reading a configuration as that of its family, and what it is refused for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "base/fail.h"
#include "file/json.h"
#include "model/family.h"

namespace mummu::test {

inline Result<ModelConfig> read_config(const nlohmann::json& config) {
  MUMMU_TRY(const auto object, JsonObject::of(config, "config.json"));
  MUMMU_TRY(const auto type, object.get_string("model_type"));
  MUMMU_TRY(const auto family, find_family(type, "config.json"));
  MUMMU_TRY(auto read, family->from_json(object));
  MUMMU_TRY(check_config(read, "config.json"));
  return read;
}

struct ConfigRefusal {
  const char* patch;  // merged into a configuration that is taken
  Error::Code code;
  const char* message;
};

inline void PrintTo(const ConfigRefusal& refusal, std::ostream* out) { *out << refusal.patch; }

inline void expect_refused(const nlohmann::json& config, const ConfigRefusal& refusal) {
  const auto result = read_config(config);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, refusal.code) << result.error().message;
  EXPECT_THAT(result.error().message, testing::HasSubstr(refusal.message));
  EXPECT_THAT(result.error().message, testing::HasSubstr("config.json"));
}

}  // namespace mummu::test
