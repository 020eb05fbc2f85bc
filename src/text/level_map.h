#pragma once

// The level of each byte of a text, kept as runs. Made for one encode call; one thread.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "mummu/chat.h"

namespace mummu {

class LevelMap {
 public:
  // All bytes alike.
  explicit LevelMap(Level level) : levels_{level}, ends_{~size_t{0}} {}
  explicit LevelMap(std::span<const Rendered::Run> runs) {
    size_t end = 0;
    for (const Rendered::Run& run : runs) {
      if (run.size == 0) continue;
      levels_.push_back(run.level);
      ends_.push_back(end += run.size);
    }
  }

  // The highest level among bytes begin ≤ i < end.
  //   requires  begin < end, both inside what the runs cover
  Level highest(size_t begin, size_t end) const {
    auto i = static_cast<size_t>(std::ranges::upper_bound(ends_, begin) - ends_.begin());
    Level level = levels_[i];
    while (ends_[i] < end) level = std::max(level, levels_[++i]);
    return level;
  }

 private:
  std::vector<Level> levels_;
  std::vector<size_t> ends_;
};

}  // namespace mummu
