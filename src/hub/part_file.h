#pragma once

// A file that is being downloaded: NAME.part holds the bytes, NAME.part.map which ranges of it are
// there. The map is written after the bytes, at least once for every kChunk of a range, so whatever
// kills the process costs at most kChunk for each range that was being written.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hub/fd.h"
#include "hub/file_hash.h"
#include "mummu/result.h"

namespace mummu::hub {

struct Range {
  int64_t begin = 0, end = 0;  // bytes of the file
  int64_t done = 0;            // of them, from begin

  int64_t at() const { return begin + done; }
  bool complete() const { return at() == end; }
};

class PartFile {
 public:
  static constexpr int64_t kChunk = 1 << 20;

  struct Options {
    Hash::Kind hash = Hash::Kind::sha256;
    bool hash_thread = false;  // a thread of its own hashes
    int64_t ranges = 1;        // to begin with
  };
  // Goes on with what lies at `path`, or begins anew.
  //   errors   io, internal (no thread)
  static Result<PartFile> open(const std::filesystem::path& path, int64_t size_bytes,
                               const Options& options);
  PartFile(PartFile&&) noexcept = default;
  PartFile& operator=(PartFile&&) noexcept = default;
  ~PartFile();  // writes the map

  const std::vector<Range>& ranges() const { return ranges_; }
  int64_t bytes() const;  // that are there
  int64_t size() const { return size_; }
  bool complete() const { return bytes() == size_; }

  // The next bytes of a range.
  //   requires they fit
  //   errors   io (disk full)
  Result<void> write(size_t range, std::span<const std::byte> bytes);
  // Forgets all bytes; one range from now on.
  Result<void> restart();
  Result<void> save();  // the map

  // Hashes at most `limit_bytes` that are there and were not hashed yet. Whether it is behind and
  // this is to be called again.
  //   errors   io
  Result<bool> hash_some(int64_t limit_bytes);
  bool hashed() const { return hash_->complete(); }
  //   requires hashed(); once
  std::string hex() { return hash_->hex(); }

  // Makes the bytes durable and gives the file its name.
  Result<void> settle(const std::filesystem::path& path);
  // Removes the file and its map.
  void discard();
  // Removes what a download that was killed while it gave the file its name has left.
  static void remove_remains(const std::filesystem::path& path);

 private:
  PartFile(std::filesystem::path path, Fd fd, int64_t size, const Options& options);
  Result<void> begin(int64_t ranges);
  Result<void> begin_hash();
  bool read_map();
  int64_t contiguous() const;  // bytes from the start that are there
  Error io_error(const char* what) const;
  std::filesystem::path map_path() const { return path_.string() + ".map"; }

  std::filesystem::path path_;
  Fd fd_, map_;
  int64_t size_ = 0;
  Options options_;
  std::vector<Range> ranges_;
  std::unique_ptr<FileHash> hash_;  // ends before the file is closed
};

}  // namespace mummu::hub
