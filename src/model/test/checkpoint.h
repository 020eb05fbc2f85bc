#pragma once

// For tests: a copy of a golden checkpoint that a test may break.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/test_fixture.h"
#include "mummu/model.h"

namespace mummu::test {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
}

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

class CheckpointTest : public testing::Test {
 public:
  ~CheckpointTest() override { std::filesystem::remove_all(folder_); }

 private:
  static std::string unique_name() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return std::string("mummu_") + test->test_suite_name() + "_" + test->name();
  }

 protected:
  explicit CheckpointTest(const std::string& name = "llama/gqa") { take(name); }

  // Puts another golden checkpoint in the place of this one.
  void take(const std::string& name) {
    namespace fs = std::filesystem;
    fs::remove_all(folder_);
    fs::copy(golden(name), folder_, fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      fs::permissions(entry.path(), fs::perms::owner_all);
  }

  std::string gguf() const { return (folder_ / "model.gguf").string(); }

  void change(const char* file, std::string_view from, std::string_view to) {
    write_text(folder_ / file, replaced(read_text(folder_ / file), from, to));
  }

  // What a load ends with: one line.
  Error refusal(const std::string& path) {
    const auto model = Model::load(path, device_);
    EXPECT_FALSE(model);
    if (model) return {};
    EXPECT_THAT(model.error().message, testing::Not(testing::HasSubstr("\n")));
    return model.error();
  }
  Error refusal() { return refusal(folder_.string()); }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / unique_name();
  Device device_ = open_device("cpu").value();
};

}  // namespace mummu::test
