#pragma once

// Runs fake_hub.py for a test: repositories are folders that the test writes, faults are asked for
// by JSON, the log tells what was requested. And a clock that moves only when it is told to, or
// when a download has nothing to do but to wait.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "file/test_writer.h"
#include "mummu/hub.h"

namespace mummu::test {

class ManualClock : public HubClock {
 public:
  Time now() override { return now_; }
  void sleep_until(Time time) override { now_ = time; }
  void advance(std::chrono::milliseconds time) { now_ += time; }

 private:
  Time now_{std::chrono::hours(1)};
};

class FakeHub {
 public:
  explicit FakeHub(const std::string& tls_name = "");
  ~FakeHub();
  FakeHub(const FakeHub&) = delete;
  FakeHub& operator=(const FakeHub&) = delete;

  // A file of a repository; gives its content back.
  std::string put(const std::string& repository, const std::string& file, std::string content);
  // The same with `size` bytes that no compression and no accident makes equal.
  std::string put_random(const std::string& repository, const std::string& file, size_t size);

  nlohmann::json command(const nlohmann::json& words);
  void fault(const std::string& kind, const std::string& on, const nlohmann::json& more);
  nlohmann::json log();
  int64_t sent_bytes();  // of file content, since the log was emptied
  void clear();

  std::string url, cdn, ca;
  TempFolder root;

 private:
  std::string read_line();
  int in_ = -1, out_ = -1, pid_ = -1;
};

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& content);

}  // namespace mummu::test
