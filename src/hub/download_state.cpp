#include "hub/download_state.h"

#include <algorithm>

#include "base/edge.h"
#include "base/fail.h"

namespace mummu::hub {

using std::chrono::milliseconds;

DownloadState::DownloadState(std::unique_ptr<Drive> drive)
    : Driver(kMostOpen), drive_(std::move(drive)), net_(&drive_->net()) {}

Result<std::shared_ptr<Channel>> DownloadState::add(const std::string& name) {
  MUMMU_TRY(auto pull, drive_->prepare(name));
  auto channel = std::make_shared<DownloadChannel>(shared_from_this(), std::move(pull));
  if (auto opened = open(channel); !opened) {
    const bool busy = opened.error().code == Error::busy;
    return fail(busy ? Error::busy : Error::invalid, "{}: {}", name, opened.error().message);
  }
  return std::shared_ptr<Channel>(std::move(channel));
}

// The mail of a download is its beginning, then at most that it was cancelled.
void DownloadState::handle(const std::shared_ptr<Channel>& channel) {
  const auto download = std::static_pointer_cast<DownloadChannel>(channel);
  if (download->to_begin) begin(download);
  if (!download->closed()) return;
  const auto found = std::ranges::find(live_, download, &Live::channel);
  if (found != live_.end()) end(*found);
}

void DownloadState::begin(std::shared_ptr<DownloadChannel> channel) {
  ModelPull* pull = drive_->add(std::move(channel->to_begin));
  live_.push_back({std::move(channel), pull});
}

Result<void> DownloadState::move(SteadyTime wait_until) {
  const auto left = wait_until - std::min(wait_until, std::chrono::steady_clock::now());
  drive_->wait(
      std::chrono::floor<milliseconds>(std::min<SteadyTime::duration>(left, Drive::kLongestWait)));
  drive_->round();
  return {};
}

void DownloadState::step(SteadyTime wait_until) {
  const auto moved = at_edge([&] {
    role_.assume();
    return move(wait_until);
  });
  const std::vector<Live> live = live_;
  for (const Live& each : live) {
    if (!moved) each.pull->break_off(moved.error());
    each.channel->push(each.pull->progress());
    if (gone()) return;
    if (each.pull->ended()) end(each);
    if (gone()) return;
  }
}

// The downloader may die in what this calls.
void DownloadState::end(Live live) {
  auto result = live.pull->result();
  drive_->remove(live.pull);
  std::erase_if(live_, [&](const Live& each) { return each.channel == live.channel; });
  if (result) live.channel->finish(std::move(*result));
  live.channel->fire();
  if (gone()) return;
  const Lock lock(mutex_);
  closed_one();
}

void DownloadState::close_all() noexcept {
  for (Live& live : std::exchange(live_, {})) {
    drive_->remove(live.pull);
    live.channel->close(Error::cancelled, stopped());
    send_last(std::move(live.channel));
  }
}

void DownloadState::destroy_driven() noexcept {
  {
    const Lock lock(mutex_);
    net_ = nullptr;
  }
  drive_.reset();
}

void DownloadState::rouse() noexcept {
  if (net_) net_->wake();
}

std::vector<Downloader::PollFd> DownloadState::poll_fds() { return drive_->net().poll_fds(); }

milliseconds DownloadState::next_timeout() {
  if (has_mail()) return milliseconds(0);
  return drive_->next_timeout();
}

}  // namespace mummu::hub
