#include "line_reader.h"

#include <editline/readline.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <iostream>

namespace mummu::app {

LineReader::LineReader() : terminal_(isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0) {
  if (!terminal_) return;
  std::setlocale(LC_CTYPE, "C.UTF-8");  // what people type is UTF-8, whatever their locale says
  using_history();
  stifle_history(1000);
}

std::optional<std::string> LineReader::next(const char* prompt) {
  if (!terminal_) {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
  char* line = readline(prompt);
  if (!line) {
    std::cout << std::endl;
    return std::nullopt;
  }
  if (*line) add_history(line);
  std::string text(line);
  std::free(line);
  return text;
}

}  // namespace mummu::app
