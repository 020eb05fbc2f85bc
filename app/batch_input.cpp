#include "batch_input.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "command.h"

namespace mummu::app {

BatchInput::BatchInput(const std::string& path)
    : path_(path), file_(path == "-" ? stdin : std::fopen(path.c_str(), "rb")) {
  if (!file_) fail(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  struct stat about = {};
  if (fstat(fileno(file_.get()), &about) == 0 && S_ISREG(about.st_mode)) size_ = about.st_size;
  if (S_ISDIR(about.st_mode)) fail(fmt::format("{} is a folder, a file of lines expected", path));
}

bool BatchInput::read_line(Line& line) {
  line = {.number = ++number_};
  int c = EOF;
  bool any = false;
  while ((c = getc_unlocked(file_.get())) != EOF) {
    any = true;
    ++bytes_;
    if (c == '\n') break;
    line.too_long |= line.text.size() == kLongest;
    if (!line.too_long) line.text += static_cast<char>(c);
  }
  if (std::ferror(file_.get()))
    fail(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
  return any;
}

std::optional<BatchInput::Line> BatchInput::next() {
  Line line;
  while (read_line(line))
    if (line.text.find_first_not_of(" \t\r") != std::string::npos) return line;
  return std::nullopt;
}

bool BatchInput::is_new(const std::string& custom_id) {
  const std::hash<std::string> hash;
  return seen_.insert({hash(custom_id), hash(custom_id + '\n')}).second;
}

double BatchInput::part_read() const {
  return size_ > 0 ? static_cast<double>(bytes_) / static_cast<double>(size_) : -1;
}

}  // namespace mummu::app
