#pragma once

// The lock that huggingface_hub and tool/fetch_models.sh take too: flock on a file of the store.

#include <filesystem>

#include "hub/fd.h"
#include "mummu/result.h"

namespace mummu::hub {

class FileLock {
 public:
  // Whether it was free; asks only once and never waits.
  //   errors   io
  Result<bool> try_take(const std::filesystem::path& path);
  void release() { fd_ = Fd(); }

 private:
  Fd fd_;
};

}  // namespace mummu::hub
