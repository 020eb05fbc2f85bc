#pragma once

// Cuts the work of an op into pieces for the device's Parallel. Pieces are handed out while they
// run, so several for each thread even out what else the machine does; small work stays on the
// calling thread, because a region costs about a microsecond.

#include <algorithm>
#include <cstdint>
#include <utility>

#include "mummu/device.h"

namespace mummu::cpu {

class Schedule {
 public:
  explicit Schedule(Parallel parallel) : parallel_(std::move(parallel)) {}

  int width() const { return parallel_.width(); }

  // Calls work(first, last) for runs that together cover [0, units) once.
  //   units    nanoseconds: a rough estimate of all the work on one thread
  template <typename Work>
  void run(int64_t units, double nanoseconds, Work&& work) {
    const int64_t pieces = piece_count(units, nanoseconds);
    if (pieces <= 1) {
      if (units > 0) work(int64_t{0}, units);
      return;
    }
    parallel_.for_each(pieces,
                       [&](int64_t i) { work(units * i / pieces, units * (i + 1) / pieces); });
  }

  // Calls work(i) for every i in [0, count), whatever it costs.
  template <typename Work>
  void each(int64_t count, Work&& work) {
    parallel_.for_each(count, std::forward<Work>(work));
  }

 private:
  static constexpr double kWorthRegion = 4000;
  static constexpr double kSmallestPiece = 2500;
  static constexpr int64_t kPiecesPerThread = 8;

  int64_t piece_count(int64_t units, double nanoseconds) const {
    if (width() == 1 || nanoseconds < kWorthRegion) return 1;
    const auto worth = static_cast<int64_t>(std::min(nanoseconds / kSmallestPiece, 1e6));
    // A multiple of the width, so that equal threads finish together.
    const int64_t rounds = std::min((worth + width() - 1) / width(), kPiecesPerThread);
    return std::min(units, rounds * width());
  }

  Parallel parallel_;
};

}  // namespace mummu::cpu
