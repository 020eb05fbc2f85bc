#include "hub/part_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>

#include "base/fail.h"
#include "hub/folder.h"

namespace mummu::hub {
namespace {

constexpr const char* kMagic = "mummu-part-1";
constexpr size_t kMaxMap = 4096;  // bytes; one write of the system
constexpr int64_t kMaxRanges = 32;

Fd open_file(const std::filesystem::path& path) {
  return Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
}

bool pwrite_all(int fd, std::span<const std::byte> bytes, int64_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(n));
    offset += n;
  }
  return true;
}

// Starts to bring written bytes to the disk, so that making them durable waits less at the end.
void begin_to_store(int fd, int64_t end, int64_t count) {
  const int64_t begin = std::max<int64_t>(0, end - count);
  static_cast<void>(::sync_file_range(fd, begin, end - begin, SYNC_FILE_RANGE_WRITE));
}

std::vector<Range> equal_ranges(int64_t size, int64_t count) {
  std::vector<Range> ranges;
  const int64_t n = std::clamp<int64_t>(count, 1, kMaxRanges);
  for (int64_t i = 0; i < n; ++i)
    ranges.push_back({.begin = size / n * i, .end = i + 1 == n ? size : size / n * (i + 1)});
  return ranges;
}

// Whether the ranges follow each other from 0 to the end, each with as much as fits.
bool is_sound(const std::vector<Range>& ranges, int64_t size) {
  int64_t end = 0;
  for (const Range& range : ranges) {
    if (range.begin != end || range.end < range.begin) return false;
    if (range.done < 0 || range.done > range.end - range.begin) return false;
    end = range.end;
  }
  return !ranges.empty() && end == size;
}

}  // namespace

PartFile::PartFile(std::filesystem::path path, Fd fd, int64_t size, const Options& options)
    : path_(std::move(path)), fd_(std::move(fd)), size_(size), options_(options) {}

PartFile::~PartFile() {
  if (map_) static_cast<void>(save());
}

Error PartFile::io_error(const char* what) const {
  const char* full = errno == ENOSPC || errno == EFBIG || errno == EDQUOT ? " (disk full)" : "";
  return fail(Error::io, "{}: cannot {}{}: {}", path_.string(), what, full, std::strerror(errno));
}

Result<PartFile> PartFile::open(const std::filesystem::path& path, int64_t size_bytes,
                                const Options& options) {
  PartFile part(path, open_file(path), size_bytes, options);
  if (!part.fd_) return part.io_error("open");
  part.map_ = open_file(part.map_path());
  if (!part.map_) return part.io_error("open the map of");
  MUMMU_TRY(part.read_map() ? part.begin_hash() : part.begin(options.ranges));
  return part;
}

Result<void> PartFile::begin(int64_t ranges) {
  ranges_ = equal_ranges(size_, ranges);
  MUMMU_TRY(begin_hash());
  if (::ftruncate(fd_.get(), 0) != 0) return io_error("empty");
  return save();
}

Result<void> PartFile::begin_hash() {
  hash_.reset();
  try {
    hash_ = std::make_unique<FileHash>(fd_.get(), options_.hash, size_, options_.hash_thread);
  } catch (const std::system_error& error) {
    return fail(Error::internal, "{}: no thread to hash it: {}", path_.string(), error.what());
  }
  return {};
}

bool PartFile::read_map() {
  char buffer[kMaxMap];
  const ssize_t n = ::pread(map_.get(), buffer, sizeof buffer, 0);
  std::istringstream in(std::string(buffer, n > 0 ? static_cast<size_t>(n) : 0));
  std::string magic;
  int64_t size = -1;
  in >> magic >> size;
  for (Range range; in >> range.begin >> range.end >> range.done;) ranges_.push_back(range);
  struct stat info = {};
  int64_t highest = 0;
  for (const Range& range : ranges_)
    if (range.done > 0) highest = range.at();
  const bool sound = magic == kMagic && size == size_ && is_sound(ranges_, size_) &&
                     ::fstat(fd_.get(), &info) == 0 && info.st_size >= highest;
  if (!sound) ranges_.clear();
  return sound;
}

int64_t PartFile::bytes() const {
  int64_t sum = 0;
  for (const Range& range : ranges_) sum += range.done;
  return sum;
}

int64_t PartFile::contiguous() const {
  for (const Range& range : ranges_)
    if (!range.complete()) return range.at();
  return size_;
}

Result<void> PartFile::write(size_t index, std::span<const std::byte> bytes) {
  Range& range = ranges_[index];
  const int64_t at = range.at(), count = static_cast<int64_t>(bytes.size());
  if (!pwrite_all(fd_.get(), bytes, at)) return io_error("write");
  hash_->add(bytes, at);
  const int64_t chunks = range.done / kChunk;
  range.done += count;
  if (range.done / kChunk == chunks && !range.complete()) return {};
  begin_to_store(fd_.get(), range.at(), PartFile::kChunk);
  return save();
}

Result<void> PartFile::restart() { return begin(1); }

Result<void> PartFile::save() {
  std::string text = fmt::format("{} {}", kMagic, size_);
  for (const Range& range : ranges_)
    text += fmt::format("\n{:<20} {:<20} {:<20}", range.begin, range.end, range.done);
  text += '\n';
  if (!pwrite_all(map_.get(), std::as_bytes(std::span(text)), 0) ||
      ::ftruncate(map_.get(), static_cast<off_t>(text.size())) != 0)
    return io_error("write the map of");
  return {};
}

Result<bool> PartFile::hash_some(int64_t limit_bytes) {
  const bool behind = hash_->go_on(contiguous(), limit_bytes);
  if (const int problem = hash_->error()) {
    errno = problem;
    return io_error("read back");
  }
  return behind;
}

Result<void> PartFile::settle(const std::filesystem::path& path) {
  if (::fsync(fd_.get()) != 0) return io_error("make durable");
  if (::rename(path_.c_str(), path.c_str()) != 0) return io_error("rename");
  sync_folder(path.parent_path());
  map_ = Fd();
  ::unlink(map_path().c_str());
  return {};
}

void PartFile::discard() {
  map_ = Fd();
  remove_remains(path_);
}

void PartFile::remove_remains(const std::filesystem::path& path) {
  ::unlink((path.string() + ".map").c_str());
  ::unlink(path.c_str());
}

}  // namespace mummu::hub
