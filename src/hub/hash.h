#pragma once

// The two hashes by which the hub names content: sha256 of a large file, and git's own name of a
// small one, the sha1 of "blob SIZE\0" and its bytes.
//   source   git's documentation, "Git Internals: Git Objects"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace mummu::hub {

class Hash {
 public:
  enum class Kind { sha256, git_blob };

  // Which hash a name of this length is: 40 digits are git's, all else is sha256.
  static Kind kind_of(std::string_view etag);

  Hash(Kind kind, int64_t size_bytes);
  Hash(Hash&&) noexcept;
  Hash& operator=(Hash&&) noexcept;
  ~Hash();

  void add(std::span<const std::byte> bytes);
  std::string hex();  // once, at the end

 private:
  struct Delete {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Delete> context_;
};

std::string sha256_hex(std::string_view text);

}  // namespace mummu::hub
