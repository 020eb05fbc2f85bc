#pragma once

// For tests: fixtures that tool/fetch_models.sh --tests brings, and the one way to skip without
// them.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace mummu::test {

// Where tool/fetch_models.sh puts test fixtures: MUMMU_FIXTURES, else the user's cache folder.
inline std::string fixture_folder() {
  if (const char* set = std::getenv("MUMMU_FIXTURES")) return set;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"))
    return std::string(cache) + "/mummu/fixtures";
  const char* home = std::getenv("HOME");
  return std::string(home ? home : "") + "/.cache/mummu/fixtures";
}

inline std::string fixture(const std::string& name) { return fixture_folder() + "/" + name; }

// golden/ of the source tree.
inline std::string golden(const std::string& name) {
  return std::string(MUMMU_SOURCE_DIR) + "/golden/" + name;
}

// The name of a test's case over a checkpoint of golden/: "llama/gqa" becomes "llama_gqa".
inline std::string case_name(std::string checkpoint) {
  std::replace(checkpoint.begin(), checkpoint.end(), '/', '_');
  return checkpoint;
}

}  // namespace mummu::test

// Skips the test, loudly, when a fixture is missing; in CI (MUMMU_REQUIRE_FIXTURES=1) that is a
// failure.
#define MUMMU_NEEDS(path)                                                              \
  if (!std::filesystem::exists(path)) {                                                \
    if (std::getenv("MUMMU_REQUIRE_FIXTURES")) FAIL() << "missing fixture " << (path); \
    GTEST_SKIP() << "skipped: " << (path)                                              \
                 << " is missing; get it with tool/fetch_models.sh --tests";           \
  }
