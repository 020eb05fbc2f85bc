#pragma once

// The hash of a file that grows from its start: what is there is hashed in order, by the caller,
// some at a time, or by a thread of its own that reads it back.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "hub/hash.h"

namespace mummu::hub {

class FileHash {
 public:
  // `fd` is read, never moved, and must outlive this.
  //   errors   std::system_error (no thread)
  FileHash(int fd, Hash::Kind kind, int64_t size_bytes, bool own_thread);
  ~FileHash();
  FileHash(const FileHash&) = delete;
  FileHash& operator=(const FileHash&) = delete;

  // Bytes that were just written at `at`: saves reading them back if they come next.
  void add(std::span<const std::byte> bytes, int64_t at);
  // Goes on up to `end`, the caller with at most `limit` bytes; at the file's end it may wait for
  // the thread, a few milliseconds. Whether it is behind and this is to be called again.
  bool go_on(int64_t end, int64_t limit_bytes);

  bool complete();
  int error();        // errno of a read that failed; 0: none
  std::string hex();  // requires complete(); once

 private:
  bool hash_block(int64_t begin, int64_t end);
  void run();

  const int fd_;
  const int64_t size_;
  Hash hash_;
  std::vector<std::byte> buffer_;
  std::mutex mutex_;  // of all that follows
  std::condition_variable moved_;
  int64_t hashed_ = 0, end_ = 0;
  int error_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace mummu::hub
