#pragma once

// For tests of embedders: texts and vectors of golden/, and a tiny model in a folder of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/test/checkpoint.h"
#include "model/test_decoder.h"
#include "mummu/embed.h"

namespace mummu::test {

// A JSON string a line.
std::vector<std::string> read_texts(const std::string& path);

inline std::vector<float> read_vectors(const std::string& path, const char* name) {
  return read_all<float>(Safetensors::open(path).value(), name);
}

inline double largest(std::span<const float> values) {
  double most = 0;
  for (float v : values) most = std::max(most, std::abs(static_cast<double>(v)));
  return most;
}

inline double difference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double off = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    worst = std::isnan(off) ? INFINITY : std::max(worst, off);
  }
  return worst;
}

inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// One of the tiny models in a folder of its own, whose files may be changed.
class EmbedFolder : public CheckpointTest {
 protected:
  EmbedFolder() : CheckpointTest("bert/mean") {}

  nlohmann::json read(const char* file) const;
  void write(const char* file, const nlohmann::json& value) const;
  void patch(const char* file, const char* change) const;  // JSON, merged

  Result<Embedder> load() const { return Embedder::load(folder_.string(), device_); }
  void expect_refusal(Error::Code code, const char* words) const {
    const auto loaded = load();
    ASSERT_FALSE(loaded) << words;
    EXPECT_EQ(loaded.error().code, code) << loaded.error().message;
    EXPECT_THAT(loaded.error().message, testing::HasSubstr(words));
    EXPECT_THAT(loaded.error().message, testing::Not(testing::HasSubstr("\n")));
    EXPECT_FALSE(Embedder::inspect(folder_.string(), device_)) << words;
  }
};

}  // namespace mummu::test
