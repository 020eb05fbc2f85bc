#include "hub/file_hash.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace mummu::hub {
namespace {

constexpr int64_t kBlock = 256 << 10;
constexpr std::chrono::milliseconds kLongestWait{5};

}  // namespace

FileHash::FileHash(int fd, Hash::Kind kind, int64_t size_bytes, bool own_thread)
    : fd_(fd), size_(size_bytes), hash_(kind, size_bytes) {
  if (own_thread) thread_ = std::thread([this] { run(); });
}

FileHash::~FileHash() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  moved_.notify_all();
  thread_.join();
}

void FileHash::add(std::span<const std::byte> bytes, int64_t at) {
  if (thread_.joinable() || at != hashed_) return;
  hash_.add(bytes);
  hashed_ += static_cast<int64_t>(bytes.size());
}

bool FileHash::go_on(int64_t end, int64_t limit_bytes) {
  if (!thread_.joinable()) {
    for (const int64_t stop = std::min(end, hashed_ + limit_bytes); hashed_ < stop;)
      if (!hash_block(hashed_, stop)) return false;
    return hashed_ < end;
  }
  std::unique_lock lock(mutex_);
  end_ = end;
  moved_.notify_all();
  if (end < size_) return false;  // the network brings the next call
  return !moved_.wait_for(lock, kLongestWait, [&] { return hashed_ == size_ || error_ != 0; });
}

// Outside the lock when a thread of its own calls it.
bool FileHash::hash_block(int64_t begin, int64_t end) {
  buffer_.resize(static_cast<size_t>(kBlock));
  const auto want = static_cast<size_t>(std::min(kBlock, end - begin));
  ssize_t n = 0;
  do n = ::pread(fd_, buffer_.data(), want, begin);
  while (n < 0 && errno == EINTR);
  const int problem = n > 0 ? 0 : n < 0 ? errno : EIO;
  if (problem == 0) hash_.add(std::span(buffer_).first(static_cast<size_t>(n)));
  const std::lock_guard lock(mutex_);
  hashed_ += problem == 0 ? n : 0;
  error_ = problem;
  return problem == 0;
}

void FileHash::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    moved_.wait(lock, [&] { return stop_ || hashed_ < end_; });
    if (stop_) return;
    const int64_t begin = hashed_, end = end_;
    lock.unlock();
    const bool went_on = hash_block(begin, end);
    lock.lock();
    if (!went_on || hashed_ == end_) moved_.notify_all();
    if (!went_on) return;
  }
}

bool FileHash::complete() {
  const std::lock_guard lock(mutex_);
  return hashed_ == size_;
}

int FileHash::error() {
  const std::lock_guard lock(mutex_);
  return error_;
}

std::string FileHash::hex() { return hash_.hex(); }

}  // namespace mummu::hub
