#include "hub/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/fail.h"

namespace mummu::hub {
namespace {

// Whoever releases the lock may remove its file; then we hold the lock of a file without a name.
bool is_still(const std::filesystem::path& path, int fd) {
  struct stat named = {}, held = {};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(fd, &held) == 0 &&
         named.st_ino == held.st_ino && named.st_dev == held.st_dev;
}

}  // namespace

Result<bool> FileLock::try_take(const std::filesystem::path& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd)
    return fail(Error::io, "{}: cannot open this lock: {}", path.string(), std::strerror(errno));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK || errno == EINTR) return false;
    return fail(Error::io, "{}: cannot lock: {}", path.string(), std::strerror(errno));
  }
  if (!is_still(path, fd.get())) return false;
  fd_ = std::move(fd);
  return true;
}

}  // namespace mummu::hub
