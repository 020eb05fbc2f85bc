// The public edge of Downloader.

#include "mummu/downloader.h"

#include "async/leak.h"
#include "base/edge.h"
#include "base/fail.h"
#include "hub/download_state.h"

namespace mummu {

using std::chrono::milliseconds;

namespace {

Result<void> check(const std::shared_ptr<hub::DownloadState>& state) {
  if (!state) return fail(Error::invalid, "this downloader was moved from");
  if (state->forked()) return fail(Error::invalid, "this downloader belongs to the parent process");
  return {};
}

}  // namespace

Result<Downloaded> DownloadStream::result() {
  return at_edge([&]() -> Result<Downloaded> {
    const auto kept = channel();
    if (!kept) return fail(Error::invalid, "this download was moved from");
    if (kept->forked()) return fail(Error::invalid, "this download belongs to the parent process");
    return static_cast<hub::DownloadChannel&>(*kept).result();
  });
}

Downloader::Downloader(std::shared_ptr<hub::DownloadState> state) : state_(std::move(state)) {}

Result<Downloader> Downloader::make(HubOptions options) {
  return at_edge([&]() -> Result<Downloader> {
    MUMMU_TRY(auto drive, hub::Drive::make(std::move(options)));
    return Downloader(std::make_shared<hub::DownloadState>(std::move(drive)));
  });
}

Result<Downloader> Downloader::start(HubOptions options) {
  return at_edge([&]() -> Result<Downloader> {
    MUMMU_TRY(Downloader downloader, make(std::move(options)));
    downloader.state_->start_thread();
    return downloader;
  });
}

Downloader::Downloader(Downloader&&) noexcept = default;

Downloader& Downloader::operator=(Downloader&& other) noexcept {
  if (this == &other) return *this;
  destroy();
  state_ = std::move(other.state_);
  return *this;
}

Downloader::~Downloader() { destroy(); }

void Downloader::destroy() noexcept {
  auto state = std::exchange(state_, nullptr);
  if (!state) return;
  if (state->forked()) return leak(std::move(state));
  state->shut_down();
}

Result<DownloadStream> Downloader::add(const std::string& name) {
  return at_edge([&]() -> Result<DownloadStream> {
    MUMMU_TRY(check(state_));
    MUMMU_TRY(auto channel, state_->add(name));
    return DownloadStream(std::move(channel));
  });
}

Result<void> Downloader::run(std::stop_token stop) {
  return at_edge([&]() -> Result<void> {
    MUMMU_TRY(check(state_));
    MUMMU_TRY(state_->drive({.stop = std::move(stop)}));
    return {};
  });
}

Result<Turn> Downloader::run_once() {
  return at_edge([&]() -> Result<Turn> {
    MUMMU_TRY(check(state_));
    return state_->drive({.one_step = true, .wait = false});
  });
}

Result<Turn> Downloader::run_for(std::chrono::steady_clock::duration budget) {
  return at_edge([&]() -> Result<Turn> {
    MUMMU_TRY(check(state_));
    return state_->drive({.time = time_after(budget), .wait = false});
  });
}

Result<void> Downloader::on_work(Callback<void()> function) {
  return at_edge([&]() -> Result<void> {
    MUMMU_TRY(check(state_));
    state_->on_work(std::move(function));
    return {};
  });
}

std::vector<Downloader::PollFd> Downloader::poll_fds() const {
  return check(state_) ? state_->poll_fds() : std::vector<PollFd>();
}

milliseconds Downloader::next_timeout() const {
  return check(state_) ? state_->next_timeout() : milliseconds(0);
}

Result<void> Downloader::drain() {
  return at_edge([&]() -> Result<void> {
    MUMMU_TRY(check(state_));
    return state_->drain();
  });
}

void Downloader::stop() noexcept {
  if (state_ && !state_->forked()) state_->stop();
}

}  // namespace mummu
