#pragma once

// The pages of keys and values that sequences hold, counted by holders. A page that nobody holds is
// free, or stays findable in the prefix cache until its memory is needed.

#include <cstdint>
#include <vector>

#include "engine/prefix_cache.h"

namespace mummu {

class Pages {
 public:
  // All pages free; nothing allocates after this.
  void reset(int64_t count);

  // A page with one holder and bytes of no meaning, or kNoPage.
  int32_t take();
  void hold(int32_t page);
  void release(int32_t page);
  // Lets go of all, last first (see PrefixCache), and empties the list.
  void release_all(std::vector<int32_t>& pages);

  int32_t holders(int32_t page) const { return holders_[static_cast<size_t>(page)]; }
  int64_t count() const { return static_cast<int64_t>(holders_.size()); }
  int64_t available() const { return static_cast<int64_t>(free_.size()) + cache_.idle(); }
  int64_t used() const { return count() - available(); }

  PrefixCache& cache() { return cache_; }
  const PrefixCache& cache() const { return cache_; }

 private:
  std::vector<int32_t> holders_;  // by page
  std::vector<int32_t> free_;
  PrefixCache cache_;
};

}  // namespace mummu
