#include "batch_output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "batch_line.h"
#include "command.h"

namespace mummu::app {

void BatchOutput::fail_write(const std::string& path) const {
  fail(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

BatchOutput::BatchOutput(const std::string& path) : path_(path), part_(path + ".part") {
  struct stat about = {};
  if (stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode))
    fail(fmt::format("{} is not a file that can be replaced", path));
  const int handle = open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (handle < 0) fail_write(part_);
  file_ = fdopen(handle, "r+b");
  if (!file_) fail_write(part_);
  if (flock(handle, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    fail(fmt::format("{} is being written by another process", part_));
}

BatchOutput::~BatchOutput() {
  if (file_) std::fclose(file_);
}

bool BatchOutput::next_kept(std::string& line) {
  line.clear();
  int c = EOF;
  while ((c = getc_unlocked(file_)) != EOF && c != '\n') line += static_cast<char>(c);
  if (std::ferror(file_)) fail(fmt::format("cannot read {}: {}", part_, std::strerror(errno)));
  if (c == '\n' && read_line_name(line).good) {
    kept_bytes_ += static_cast<int64_t>(line.size()) + 1;
    return true;
  }
  if (std::fseek(file_, kept_bytes_, SEEK_SET) != 0 || ftruncate(fileno(file_), kept_bytes_) != 0)
    fail_write(part_);
  return false;
}

void BatchOutput::write(const std::string& line) {
  const bool good = std::fwrite(line.data(), 1, line.size(), file_) == line.size() &&
                    std::fputc('\n', file_) != EOF && std::fflush(file_) == 0;
  if (!good) fail_write(part_);
}

void BatchOutput::finish() {
  const bool safe = fsync(fileno(file_)) == 0 || errno == EINVAL;
  if (!safe) fail_write(part_);
  if (std::rename(part_.c_str(), path_.c_str()) != 0) fail_write(path_);
}

}  // namespace mummu::app
