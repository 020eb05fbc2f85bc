#include "hub/file_pull.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/fail.h"

namespace mummu::hub {
namespace {

using std::chrono::milliseconds;
namespace fs = std::filesystem;

constexpr milliseconds kLockPause{250};
constexpr int64_t kHashSlice = 4 << 20;        // bytes read back in one turn
constexpr int64_t kEnoughProgress = 64 << 10;  // bytes after which failures are counted anew

bool has_size(const fs::path& path, int64_t size) {
  std::error_code error;
  return fs::is_regular_file(path, error) &&
         fs::file_size(path, error) == static_cast<uintmax_t>(size) && !error;
}

}  // namespace

FilePull::FilePull(Net& net, const HubOptions& options, const RepositoryFolder& folder,
                   RemoteFile file)
    : net_(net), options_(options), folder_(folder), file_(std::move(file)) {}

FilePull::~FilePull() = default;

Result<bool> FilePull::turn(HubClock::Time now) {
  if (stage_ == Stage::lock) {
    MUMMU_TRY(const bool taken, take_lock(now));
    if (!taken) return false;
  }
  if (stage_ == Stage::fetch) {
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      MUMMU_TRY(turn_lane(lane, now));
    }
    MUMMU_TRY(hash_behind_, part_->hash_some(kHashSlice));
    if (part_->complete() && part_->hashed()) MUMMU_TRY(check());
  }
  return stage_ == Stage::done;
}

// Whoever was killed between the file's name and the end may have left the map of its part.
bool FilePull::is_here() const {
  if (file_.etag.empty() || !has_size(folder_.blob(file_.etag), file_.size)) return false;
  PartFile::remove_remains(folder_.part(part_name()));
  return true;
}

Result<bool> FilePull::take_lock(HubClock::Time now) {
  if (is_here()) {
    stage_ = Stage::done;
    return true;
  }
  if (now < lock_again_) return false;
  asked_for_lock_ = true;
  MUMMU_TRY(const bool taken, lock_.try_take(folder_.lock(part_name())));
  if (!taken) {
    lock_again_ = now + kLockPause;
    return false;
  }
  if (is_here()) {
    lock_.release();
    stage_ = Stage::done;
    return true;
  }
  MUMMU_TRY(open_part());
  stage_ = Stage::fetch;
  return true;
}

std::string FilePull::part_name() const {
  return file_.etag.empty() ? sha256_hex(file_.url) : file_.etag;
}

// Ranges follow each other and are begun in their order, so that the hash keeps up.
Result<void> FilePull::open_part() {
  const int64_t ranges =
      options_.connections == 1 ? 1 : 1 + (file_.size - 1) / options_.range_bytes;
  MUMMU_TRY(PartFile part, PartFile::open(folder_.part(part_name()), file_.size,
                                          {.hash = Hash::kind_of(file_.etag),
                                           .hash_thread = options_.hash_thread,
                                           .ranges = ranges}));
  part_.emplace(std::move(part));
  lanes_.clear();
  lanes_.resize(std::min(part_->ranges().size(), static_cast<size_t>(options_.connections)));
  return {};
}

std::optional<size_t> FilePull::range_for(const Lane& lane) const {
  if (lane.range && !range_of(lane).complete()) return lane.range;
  for (size_t i = 0; i < part_->ranges().size(); ++i) {
    const auto holds = [i](const Lane& other) { return other.range == i; };
    if (!part_->ranges()[i].complete() && std::ranges::none_of(lanes_, holds)) return i;
  }
  return std::nullopt;
}

Result<void> FilePull::turn_lane(size_t index, HubClock::Time now) {
  if (index >= lanes_.size()) return {};  // the file began anew
  Lane& lane = lanes_[index];
  if (!lane.transfer) {
    if (now >= lane.retry.next()) return launch(index, now);
    return {};
  }
  if (lane.transfer->take_activity()) lane.transfer->last_move = now;
  if (lane.transfer->outcome()) return settle_lane(lane, now);
  if (now - lane.transfer->last_move < kStall) return {};
  return retry_lane(
      lane, {Outcome::Kind::retry, false, fmt::format("no byte came for {} s", kStall.count())},
      now);
}

Result<void> FilePull::launch(size_t index, HubClock::Time now) {
  Lane& lane = lanes_[index];
  const auto next = range_for(lane);
  if (!next) return {};
  const Range& range = part_->ranges()[*next];
  if (lane.range != next) lane.done_at_failure = range.done;
  lane.range = next;
  lane.done_at_launch = range.done;
  const bool whole = range.at() == 0 && range.end == file_.size;
  TransferOptions request{.url = file_.url, .token = options_.token, .ca_file = options_.ca_file};
  if (!whole) {
    request.begin = range.at();
    request.end = range.end;
  }
  lane.transfer = std::make_unique<Transfer>(
      net_, std::move(request),
      [this, index](const AnswerHead& head, std::span<const std::byte> bytes) {
        return accept(index, head, bytes);
      },
      now);
  return {};
}

// What speaks against writing the body of this answer where the range goes on.
std::string FilePull::objection(const Range& range, const AnswerHead& head) const {
  const int64_t rest = range.end - range.at();
  if (head.status == 206 && head.range_begin != range.at())
    return fmt::format("bytes from {} were asked for, the answer begins at {}", range.at(),
                       head.range_begin);
  if (head.status == 206 && head.range_total >= 0 && head.range_total != file_.size)
    return fmt::format("{} bytes expected, the hub now has {}", file_.size, head.range_total);
  if (head.length >= 0 && head.length != rest)
    return fmt::format("{} bytes expected, the answer has {}", rest, head.length);
  return "";
}

// Runs inside curl: takes the bytes or says why not, and never destroys the transfer.
bool FilePull::accept(size_t index, const AnswerHead& head, std::span<const std::byte> bytes) {
  const Range& range = range_of(lanes_[index]);
  const bool begins = range.done == lanes_[index].done_at_launch;
  if (begins) {
    const bool whole = range.at() == 0 && range.end == file_.size;
    ranges_ignored_ = head.status == 200 && !whole;
    if (ranges_ignored_) return false;
    objection_ = objection(range, head);
    if (!objection_.empty()) return false;
  }
  if (static_cast<int64_t>(bytes.size()) > range.end - range.at()) {
    objection_ = fmt::format("{} bytes expected, the hub sends more", file_.size);
    return false;
  }
  fetched_ += static_cast<int64_t>(bytes.size());
  if (auto written = part_->write(*lanes_[index].range, bytes); !written)
    broken_ = std::move(written).error();
  return !broken_;
}

Result<void> FilePull::settle_lane(Lane& lane, HubClock::Time now) {
  Outcome outcome = *lane.transfer->outcome();
  if (broken_) return *broken_;
  if (outcome.kind == Outcome::Kind::stopped) {
    if (!std::exchange(ranges_ignored_, false)) return begin_again(std::exchange(objection_, {}));
    return without_ranges();
  }
  if (lane.transfer->head().status == 416) return begin_again("the hub has fewer bytes (416)");
  if (outcome.kind == Outcome::Kind::ok) {
    if (range_of(lane).complete()) {
      lane.transfer.reset();
      lane.retry.progressed();
      return {};
    }
    const AnswerHead& head = lane.transfer->head();
    if (head.length >= 0 && range_of(lane).done - lane.done_at_launch == head.length)
      return begin_again(
          fmt::format("{} bytes expected, the answer has {}", file_.size, head.length));
    outcome = {Outcome::Kind::retry, false, "the answer ended early"};
  }
  return retry_lane(lane, outcome, now);
}

Result<void> FilePull::retry_lane(Lane& lane, const Outcome& outcome, HubClock::Time now) {
  const int64_t done = range_of(lane).done;
  if (done - lane.done_at_failure >= kEnoughProgress) lane.retry.progressed();
  lane.done_at_failure = done;
  const auto planned = lane.retry.after(outcome, lane.transfer->head(), file_.path, now);
  lane.transfer.reset();
  return planned;
}

// The hub sent the whole file where a range was asked for.
Result<void> FilePull::without_ranges() {
  if (++ranges_ignored_times_ > Retry::kAttempts)
    return fail(Error::io, "{}: the hub ignores ranges and breaks off, {} times", file_.path,
                ranges_ignored_times_);
  MUMMU_TRY(part_->restart());
  lanes_.clear();
  lanes_.resize(1);
  return {};
}

// Wrong bytes are fetched once more, from the start.
Result<void> FilePull::begin_again(std::string why) {
  lanes_.clear();
  if (restarts_++ > 0) {
    part_->discard();
    return fail(Error::corrupt, "{}: {} (twice)", file_.path, why);
  }
  MUMMU_TRY(part_->restart());
  lanes_.resize(1);
  return {};
}

Result<void> FilePull::check() {
  const std::string hex = part_->hex();
  if (!file_.etag.empty() && hex != file_.etag)
    return begin_again(fmt::format("{} expected as its hash, the bytes have {}", file_.etag, hex));
  file_.etag = hex;
  MUMMU_TRY(part_->settle(folder_.blob(file_.etag)));
  part_.reset();
  lanes_.clear();
  lock_.release();
  stage_ = Stage::done;
  return {};
}

HubClock::Time FilePull::deadline() const {
  if (stage_ == Stage::lock) return lock_again_;
  HubClock::Time first = HubClock::Time::max();
  if (hash_behind_) return HubClock::Time::min();
  for (const Lane& lane : lanes_) {
    if (lane.transfer)
      first = std::min(first, lane.transfer->outcome() ? HubClock::Time::min()
                                                       : lane.transfer->last_move + kStall);
    else if (range_for(lane))
      first = std::min(first, lane.retry.next());
  }
  return first;
}

int64_t FilePull::bytes() const {
  if (stage_ == Stage::done) return file_.size;
  return part_ ? part_->bytes() : 0;
}

int64_t FilePull::bytes_missing() const {
  if (is_here()) return 0;
  struct stat info = {};  // a .part may have holes: blocks are what it takes
  const bool begun = ::stat(folder_.part(part_name()).c_str(), &info) == 0;
  return begun ? std::max<int64_t>(0, file_.size - info.st_blocks * 512) : file_.size;
}

std::string FilePull::note() const {
  if (stage_ == Stage::lock && asked_for_lock_) return "another download of it is running";
  if (stage_ != Stage::fetch) return "";
  const auto moves = [](const Lane& lane) { return lane.transfer != nullptr; };
  if (std::ranges::any_of(lanes_, moves)) return "";
  for (const Lane& lane : lanes_)
    if (range_for(lane)) return lane.retry.note();
  return "";
}

}  // namespace mummu::hub
