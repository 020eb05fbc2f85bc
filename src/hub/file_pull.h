#pragma once

// One file on its way into the store: lock, ranges, hash, name. turn() does what can be done
// without waiting.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hub/folder.h"
#include "hub/listing.h"
#include "hub/lock.h"
#include "hub/net.h"
#include "hub/part_file.h"
#include "hub/retry.h"
#include "hub/transfer.h"
#include "mummu/hub.h"

namespace mummu::hub {

class FilePull {
 public:
  static constexpr std::chrono::seconds kStall{30};

  FilePull(Net& net, const HubOptions& options, const RepositoryFolder& folder, RemoteFile file);
  ~FilePull();
  FilePull(const FilePull&) = delete;
  FilePull& operator=(const FilePull&) = delete;

  // Whether it is in the store now.
  //   errors   those of download()
  Result<bool> turn(HubClock::Time now);
  bool done() const { return stage_ == Stage::done; }

  // When turn() has something to do even if no byte comes.
  HubClock::Time deadline() const;

  const RemoteFile& file() const { return file_; }  // its etag is known once it is in the store
  int64_t bytes() const;                            // that are here
  int64_t bytes_missing() const;                    // on the disk, before the first turn
  int64_t fetched() const { return fetched_; }
  std::string note() const;  // why it waits; empty: it does not

 private:
  // A connection: fills one range after the other.
  struct Lane {
    std::optional<size_t> range{};
    std::unique_ptr<Transfer> transfer{};
    Retry retry{};
    int64_t done_at_launch = 0, done_at_failure = 0;  // bytes of the range
  };
  enum class Stage { lock, fetch, done };

  bool is_here() const;
  Result<bool> take_lock(HubClock::Time now);
  Result<void> open_part();
  Result<void> turn_lane(size_t lane, HubClock::Time now);
  // Its own, or the first that is neither complete nor another's.
  std::optional<size_t> range_for(const Lane& lane) const;
  const Range& range_of(const Lane& lane) const { return part_->ranges()[*lane.range]; }
  Result<void> launch(size_t lane, HubClock::Time now);
  bool accept(size_t lane, const AnswerHead& head, std::span<const std::byte> bytes);
  std::string objection(const Range& range, const AnswerHead& head) const;
  Result<void> settle_lane(Lane& lane, HubClock::Time now);
  Result<void> retry_lane(Lane& lane, const Outcome& outcome, HubClock::Time now);
  Result<void> without_ranges();
  Result<void> begin_again(std::string why);
  Result<void> check();
  std::string part_name() const;

  Net& net_;
  const HubOptions& options_;
  const RepositoryFolder& folder_;
  RemoteFile file_;
  Stage stage_ = Stage::lock;
  FileLock lock_;
  bool asked_for_lock_ = false;
  HubClock::Time lock_again_{};
  std::optional<PartFile> part_{};
  std::vector<Lane> lanes_;
  int64_t fetched_ = 0;
  int restarts_ = 0, ranges_ignored_times_ = 0;
  bool ranges_ignored_ = false, hash_behind_ = false;
  std::string objection_{};        // what is wrong with an answer; its bytes are not taken
  std::optional<Error> broken_{};  // the disk
};

}  // namespace mummu::hub
