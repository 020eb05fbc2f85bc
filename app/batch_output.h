#pragma once

// The answers of a batch, in the order of its lines. They are gathered in OUTPUT.part, which gets
// its final name when all are there; a run that finds an OUTPUT.part goes on behind its last whole
// line.

#include <cstdint>
#include <cstdio>
#include <string>

namespace mummu::app {

class BatchOutput {
 public:
  // Fails the command where the file cannot be written, or another process is writing it.
  explicit BatchOutput(const std::string& path);
  ~BatchOutput();
  BatchOutput(const BatchOutput&) = delete;
  BatchOutput& operator=(const BatchOutput&) = delete;

  // The next whole line that an earlier run has left, without its newline; false behind the last.
  // What comes behind that, a line torn by a crash, is dropped.
  bool next_kept(std::string& line);

  //   requires  next_kept has returned false
  void write(const std::string& line);
  // All answers are there.
  void finish();

  const std::string& part() const { return part_; }

 private:
  [[noreturn]] void fail_write(const std::string& path) const;

  std::string path_, part_;
  std::FILE* file_ = nullptr;
  int64_t kept_bytes_ = 0;
};

}  // namespace mummu::app
