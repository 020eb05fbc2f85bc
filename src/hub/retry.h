#pragma once

// When to try again: waits that double from half a second to 30 s, shortened at random by up to a
// half so that many clients do not come back together, or what the hub asked for.

#include <chrono>
#include <cstdint>
#include <random>
#include <string>

#include "hub/transfer.h"
#include "mummu/hub.h"
#include "mummu/result.h"

namespace mummu::hub {

class Retry {
 public:
  static constexpr int kAttempts = 8;             // in a row without progress
  static constexpr int kUnreachableAttempts = 2;  // of a hub that was never reached: two times 8 s
  static constexpr int64_t kMaxWait_s = 300;      // that a hub may ask for

  // `unreachable_attempts`: how often no connection may come about in a row.
  explicit Retry(int unreachable_attempts = kAttempts)
      : unreachable_attempts_(unreachable_attempts) {}

  // Plans the next attempt, or says why there is none.
  //   errors   io, busy (429), invalid (401, 403), not_found (404)
  Result<void> after(const Outcome& outcome, const AnswerHead& head, const std::string& what,
                     HubClock::Time now);
  void progressed() { failures_ = unreachable_ = 0; }

  HubClock::Time next() const { return next_; }
  const std::string& note() const { return note_; }  // of the latest failure

 private:
  std::chrono::milliseconds backoff();

  int unreachable_attempts_, failures_ = 0, unreachable_ = 0;
  HubClock::Time next_{};
  std::string note_{};
  std::minstd_rand random_{std::random_device()()};
};

}  // namespace mummu::hub
