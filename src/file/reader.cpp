#include "file/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/fail.h"

namespace mummu {
namespace {

Error system_error(const std::string& path, const char* what, int number) {
  const bool absent = number == ENOENT || number == ENOTDIR;
  return fail(absent ? Error::not_found : Error::io, "{}: {}: {}", path, what,
              std::generic_category().message(number));
}

const char* kind_name(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

Result<void> check_regular(const std::string& path, const struct stat& facts) {
  if (S_ISREG(facts.st_mode)) return {};
  return fail(Error::invalid, "{}: is {}, a regular file is expected", path,
              kind_name(facts.st_mode));
}

}  // namespace

FileReader::FileReader(std::string path, int fd, int64_t size, std::vector<std::byte> bytes)
    : path_(std::move(path)), fd_(fd), size_(size), bytes_(std::move(bytes)) {}

FileReader::FileReader(FileReader&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(std::exchange(other.size_, 0)),
      bytes_(std::move(other.bytes_)) {}

FileReader& FileReader::operator=(FileReader&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

FileReader::~FileReader() {
  if (fd_ >= 0) ::close(fd_);
}

Result<FileReader> FileReader::open(const std::string& path) {
  if (path.find('\0') != std::string::npos) {
    return fail(Error::invalid, "{}: a path holds a zero byte", path.c_str());
  }
  // Looked at before it is opened, because opening a device may do something; and again afterwards,
  // because the name may mean another file by then.
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) != 0) return system_error(path, "cannot be opened", errno);
  MUMMU_TRY(check_regular(path, facts));
  // O_NONBLOCK: a pipe that took the file's place must not block; regular files ignore it.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return system_error(path, "cannot be opened", errno);
  FileReader reader(path, fd, 0, {});
  if (::fstat(fd, &facts) != 0) return system_error(path, "cannot be read", errno);
  MUMMU_TRY(check_regular(path, facts));
  reader.size_ = facts.st_size;
  return reader;
}

FileReader FileReader::from_bytes(std::string name, std::vector<std::byte> bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  return FileReader(std::move(name), -1, size, std::move(bytes));
}

Error FileReader::truncated(int64_t offset, size_t wanted, int64_t end) const {
  return fail(Error::corrupt,
              "{}: truncated while reading: {} bytes wanted at byte {}, the file ends at byte {}",
              path_, wanted, offset, end);
}

Result<void> FileReader::read(int64_t offset, std::span<std::byte> out) const {
  if (out.empty()) return {};
  if (fd_ < 0) {
    const auto wanted = static_cast<int64_t>(out.size());
    if (offset > size_ || wanted > size_ - offset) return truncated(offset, out.size(), size_);
    std::copy_n(bytes_.begin() + offset, out.size(), out.begin());
    return {};
  }
  size_t done = 0;
  while (done < out.size()) {
    const int64_t at = offset + static_cast<int64_t>(done);
    const ssize_t got = ::pread(fd_, out.data() + done, out.size() - done, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(path_, "cannot be read", errno);
    if (got == 0) return truncated(offset, out.size(), at);
    done += static_cast<size_t>(got);
  }
  return {};
}

}  // namespace mummu
