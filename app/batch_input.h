#pragma once

// The lines of a batch file, one after the other, in bounded memory.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

namespace mummu::app {

class BatchInput {
 public:
  // Fails the command where the file cannot be read; "-" is stdin.
  explicit BatchInput(const std::string& path);

  struct Line {
    int64_t number = 0;  // from 1, blank lines counted
    std::string text{};  // without its newline
    bool too_long = false;
  };
  // The next line that is not blank.
  std::optional<Line> next();

  // Whether a custom_id comes for the first time.
  bool is_new(const std::string& custom_id);

  // Of the file, 0 to 1; negative where its size is not known.
  double part_read() const;

  static constexpr size_t kLongest = size_t{64} << 20;  // bytes of a line

 private:
  struct Close {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };
  // 128 bits that stand for a custom_id, so that a million of them fit.
  struct Print {
    uint64_t a = 0, b = 0;
    friend bool operator==(const Print&, const Print&) = default;
  };
  struct PrintHash {
    size_t operator()(const Print& print) const { return print.a; }
  };

  bool read_line(Line& line);

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  int64_t number_ = 0;
  int64_t bytes_ = 0, size_ = 0;
  std::unordered_set<Print, PrintHash> seen_;
};

}  // namespace mummu::app
