#include "hub/folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "base/fail.h"
#include "hub/fd.h"
#include "hub/hash.h"
#include "hub/text.h"

namespace mummu::hub {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMaxHost = 100;  // bytes of a folder's name

Error io_error(const fs::path& path, const char* what, const std::string& why) {
  return fail(Error::io, "{}: cannot {}: {}", path.string(), what, why);
}

std::string with_dashes(std::string_view repository) {
  std::string out;
  for (const char c : repository)
    if (c == '/')
      out += "--";
    else
      out += c;
  return out;
}

std::string host_of(const std::string& url) {
  const size_t begin = url.find("://") + 3;
  std::string host = url.substr(begin, url.find('/', begin) - begin);
  for (char& c : host)
    if (c == ':') c = '_';
  return is_safe_file(host) && host.size() <= kMaxHost ? host : "host";
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// Two processes that give the same name do not meet in it.
std::string temporary_name(const fs::path& path) {
  std::random_device random;
  return fmt::format("{}.{:08x}{:08x}.new", path.string(), random(), random());
}

Result<void> make_folders(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return io_error(path, "make this folder", error.message());
  return {};
}

}  // namespace

std::string folder_name(const HubName& name) {
  if (name.url.empty()) return "models--" + with_dashes(name.repository);
  return "urls--" + host_of(name.url) + "--" + sha256_hex(name.url).substr(0, 16);
}

std::string repository_of_folder(std::string_view folder) {
  constexpr std::string_view kPrefix = "models--";
  if (!folder.starts_with(kPrefix)) return "";
  const std::string_view rest = folder.substr(kPrefix.size());
  const size_t at = rest.find("--");
  if (at == rest.npos) return "";
  const std::string name = std::string(rest.substr(0, at)) + "/" + std::string(rest.substr(at + 2));
  return is_repository(name) ? name : "";
}

RepositoryFolder::RepositoryFolder(const fs::path& store, const HubName& name)
    : path_(store / folder_name(name)), locks_(store / ".locks" / folder_name(name)) {}

fs::path RepositoryFolder::part(std::string_view etag) const {
  return blobs() / (std::string(etag) + ".part");
}

fs::path RepositoryFolder::lock(std::string_view etag) const {
  return locks_ / (std::string(etag) + ".lock");
}

std::optional<std::string> RepositoryFolder::commit(const std::string& revision) const {
  if (is_hex(revision, 40)) return revision;
  std::string line = read_line(ref(revision));
  if (!is_hex(line, 40)) return std::nullopt;
  return line;
}

Result<void> RepositoryFolder::make() const {
  for (const fs::path& folder : {blobs(), snapshots(), path_ / "refs", locks_})
    MUMMU_TRY(make_folders(folder));
  return {};
}

Result<void> RepositoryFolder::link(std::string_view commit, const std::string& file,
                                    std::string_view etag) const {
  const fs::path path = snapshot(commit) / file;
  MUMMU_TRY(make_folders(path.parent_path()));
  const fs::path target = fs::relative(blob(etag), path.parent_path());
  std::error_code error;
  if (fs::read_symlink(path, error) == target && !error) return {};
  const fs::path fresh = temporary_name(path);
  fs::create_symlink(target, fresh, error);
  if (!error) fs::rename(fresh, path, error);
  if (error) return io_error(path, "make this link", error.message());
  sync_folder(path.parent_path());
  return {};
}

Result<void> RepositoryFolder::record(std::string_view revision, std::string_view commit) const {
  if (revision == commit) return {};
  const fs::path path = ref(revision);
  MUMMU_TRY(make_folders(path.parent_path()));
  if (read_line(path) == commit) return {};
  return write_durably(path, commit);
}

Result<void> write_durably(const fs::path& path, std::string_view text) {
  const std::string fresh = temporary_name(path);
  const Fd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd || !write_all(fd.get(), text) || ::fsync(fd.get()) != 0 ||
      ::rename(fresh.c_str(), path.c_str()) != 0) {
    Error error = io_error(path, "write", std::strerror(errno));
    ::unlink(fresh.c_str());
    return error;
  }
  sync_folder(path.parent_path());
  return {};
}

void sync_folder(const fs::path& folder) {
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) ::fsync(fd.get());
}

std::string read_line(const fs::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info = {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return "";
  char buffer[4096];
  const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
  std::string line(buffer, n > 0 ? static_cast<size_t>(n) : 0);
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ' || line.back() == '\r'))
    line.pop_back();
  return line;
}

}  // namespace mummu::hub
