#pragma once

// A file that is being downloaded: NAME.part holds the bytes, NAME.part.map which ranges of it are
// there. The map is written after the bytes, at least once for every kChunk of a range, so whatever
// kills the process costs at most kChunk a range. What is contiguous from the start is hashed as it
// comes; the rest is read back.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "hub/fd.h"
#include "hub/hash.h"
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

  // Goes on with what lies at `path`, or begins anew with `ranges` ranges.
  //   errors   io
  static Result<PartFile> open(const std::filesystem::path& path, int64_t size_bytes,
                               Hash::Kind kind, int ranges);
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

  // Hashes at most `limit_bytes` that are there and were not hashed yet. Whether any were.
  //   errors   io
  Result<bool> hash_some(int64_t limit_bytes);
  bool hashed() const { return hashed_ == size_; }
  //   requires hashed(); once
  std::string hex() { return hash_.hex(); }

  // Makes the bytes durable and gives the file its name.
  Result<void> settle(const std::filesystem::path& path);
  // Removes the file and its map.
  void discard();

 private:
  PartFile(std::filesystem::path path, Fd fd, int64_t size, Hash::Kind kind);
  Result<void> begin(int ranges);
  bool read_map();
  int64_t contiguous() const;  // bytes from the start that are there
  Error io_error(const char* what) const;
  std::filesystem::path map_path() const { return path_.string() + ".map"; }

  std::filesystem::path path_;
  Fd fd_, map_;
  int64_t size_ = 0;
  Hash::Kind kind_;
  std::vector<Range> ranges_;
  Hash hash_;
  int64_t hashed_ = 0;
};

}  // namespace mummu::hub
