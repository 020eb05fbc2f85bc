#include <algorithm>

#include "base/fail.h"
#include "hub/drive.h"
#include "mummu/hub.h"

namespace mummu {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLongestWait{100};

}  // namespace

struct Downloader::Impl {
  std::unique_ptr<hub::Drive> drive;
};

Downloader::Downloader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Downloader::Downloader(Downloader&&) noexcept = default;
Downloader& Downloader::operator=(Downloader&&) noexcept = default;
Downloader::~Downloader() = default;

Result<Downloader> Downloader::make(HubOptions options) {
  MUMMU_TRY(auto drive, hub::Drive::make(std::move(options)));
  return Downloader(std::make_unique<Impl>(std::move(drive)));
}

Result<DownloadId> Downloader::add(const std::string& name) {
  MUMMU_TRY(const int64_t number, impl_->drive->add(name));
  return DownloadId{number};
}

Downloader::Turn Downloader::run_once() { return impl_->drive->round() ? Turn::more : Turn::idle; }

void Downloader::run(std::stop_token stop) {
  while (!stop.stop_requested() && run_once() == Turn::more) impl_->drive->wait(kLongestWait);
}

Downloader::Turn Downloader::run_for(steady_clock::duration budget) {
  const auto end = steady_clock::now() + budget;
  while (true) {
    if (run_once() == Turn::idle) return Turn::idle;
    const auto left = std::chrono::floor<milliseconds>(end - steady_clock::now());
    if (left.count() <= 0) return Turn::more;
    impl_->drive->wait(std::min(left, kLongestWait));
  }
}

std::vector<Downloader::PollFd> Downloader::poll_fds() const {
  return impl_->drive->net().poll_fds();
}
milliseconds Downloader::next_timeout() const { return impl_->drive->next_timeout(); }

const DownloadProgress* Downloader::progress(DownloadId id) const {
  const hub::ModelPull* pull = impl_->drive->find(id.number);
  return pull ? &pull->progress() : nullptr;
}

Result<Downloaded> Downloader::result(DownloadId id) const {
  const hub::ModelPull* pull = impl_->drive->find(id.number);
  if (!pull) return fail(Error::invalid, "there is no download {}", id.number);
  if (!pull->ended()) return fail(Error::invalid, "download {} has not ended", id.number);
  return *pull->result();
}

void Downloader::cancel(DownloadId id) {
  if (hub::ModelPull* pull = impl_->drive->find(id.number)) pull->cancel();
}

}  // namespace mummu
