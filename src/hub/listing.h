#pragma once

// The hub's answer to "what is in this repository":
// api/models/OWNER/NAME/revision/REVISION?blobs=true.
//   source   the hub's documentation, "Hub API Endpoints"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mummu/result.h"

namespace mummu::hub {

inline constexpr int64_t kMaxListingBytes = 16 << 20;

struct RemoteFile {
  std::string path{};  // inside the repository; safe
  int64_t size = 0;    // bytes
  std::string etag{};  // sha256 of a large file, git's blob id of a small one; empty: not known
  std::string url{};
};

struct Listing {
  std::string commit{};
  std::vector<RemoteFile> files{};  // without urls
};

//   errors   corrupt (names `where`; hostile file names too)
Result<Listing> parse_listing(std::string_view json, std::string_view where);

}  // namespace mummu::hub
