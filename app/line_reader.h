#pragma once

// Lines of a person (with editing and a history) or of a pipe.

#include <memory>
#include <optional>
#include <string>

namespace mummu::app {

class LineReader {
 public:
  LineReader();
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  bool is_terminal() const { return terminal_ != nullptr; }
  // The next line without its newline; empty when Ctrl-C dropped what was typed; nothing at the end
  // of input.
  std::optional<std::string> next(const char* prompt);

 private:
  struct Terminal;

  std::unique_ptr<Terminal> terminal_;
};

}  // namespace mummu::app
