#pragma once

// Lines of a person (with editing and a history) or of a pipe.

#include <optional>
#include <string>

namespace mummu::app {

class LineReader {
 public:
  LineReader();

  bool is_terminal() const { return terminal_; }
  // The next line without its newline; nothing at the end of input, or when somebody pressed Ctrl-C
  // at the prompt (the line so far is dropped).
  std::optional<std::string> next(const char* prompt);

 private:
  bool terminal_;
};

}  // namespace mummu::app
