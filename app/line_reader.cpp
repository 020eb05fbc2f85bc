#include "line_reader.h"

#include <histedit.h>
#include <termios.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <iostream>

namespace mummu::app {

namespace {

// While it lives Ctrl-C and Ctrl-D are keys and mean nothing to the terminal: libedit shows its
// prompt before it takes the terminal over, and what they meant in between would be lost, as would
// a signal just before the wait for a key.
class KeyMode {
 public:
  KeyMode() {
    tcgetattr(STDIN_FILENO, &before_);
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    now.c_cc[VINTR] = now.c_cc[VEOF] = _POSIX_VDISABLE;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
  }
  ~KeyMode() { tcsetattr(STDIN_FILENO, TCSADRAIN, &before_); }
  KeyMode(const KeyMode&) = delete;
  KeyMode& operator=(const KeyMode&) = delete;

 private:
  termios before_{};
};

}  // namespace

struct LineReader::Terminal {
  EditLine* line = nullptr;
  History* history = nullptr;
  const char* prompt = "";
  bool dropped = false;

  Terminal();
  ~Terminal() {
    el_end(line);
    history_end(history);
  }
  static Terminal& of(EditLine* line) {
    void* self = nullptr;
    el_get(line, EL_CLIENTDATA, &self);
    return *static_cast<Terminal*>(self);
  }
};

LineReader::Terminal::Terminal() {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // what people type is UTF-8, whatever their locale says
  line = el_init("mummu", stdin, stdout, stderr);
  history = history_init();
  HistEvent event;
  ::history(history, &event, H_SETSIZE, 1000);
  ::history(history, &event, H_SETUNIQUE, 1);
  const auto show = +[](EditLine* of_line) { return const_cast<char*>(of(of_line).prompt); };
  const auto drop = +[](EditLine* of_line, int) -> unsigned char {
    of(of_line).dropped = true;
    return CC_EOF;
  };
  el_set(line, EL_CLIENTDATA, this);
  el_set(line, EL_PROMPT, show);
  el_set(line, EL_EDITOR, "emacs");
  el_set(line, EL_SIGNAL, 1);
  el_set(line, EL_HIST, ::history, history);
  el_wset(line, EL_ADDFN, L"drop-line", L"Drop what was typed", drop);  // el_set leaks the names
  el_set(line, EL_BIND, "^C", "drop-line", nullptr);
}

LineReader::LineReader() {
  if (isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0)
    terminal_ = std::make_unique<Terminal>();
}

LineReader::~LineReader() = default;

std::optional<std::string> LineReader::next(const char* prompt) {
  if (!terminal_) {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
  terminal_->prompt = prompt;
  terminal_->dropped = false;
  const KeyMode keys;
  int length = 0;
  const char* typed = el_gets(terminal_->line, &length);
  if (!typed) {
    std::cout << std::endl;
    if (terminal_->dropped) return std::string();
    return std::nullopt;
  }
  std::string line(typed, static_cast<size_t>(length));
  if (line.ends_with('\n')) line.pop_back();
  HistEvent event;
  if (!line.empty()) history(terminal_->history, &event, H_ENTER, line.c_str());
  return line;
}

}  // namespace mummu::app
