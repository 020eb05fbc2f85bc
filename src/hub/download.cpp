#include "base/edge.h"
#include "base/fail.h"
#include "hub/drive.h"
#include "mummu/hub.h"

namespace mummu {

struct Download::Impl {
  std::unique_ptr<hub::Drive> drive;
  hub::ModelPull* pull;
};

Download::Download(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Download::Download(Download&&) noexcept = default;
Download& Download::operator=(Download&&) noexcept = default;
Download::~Download() = default;

Result<Download> Download::start(const std::string& name, const HubOptions& options) {
  return at_edge([&]() -> Result<Download> {
    MUMMU_TRY(auto drive, hub::Drive::make(options));
    MUMMU_TRY(auto prepared, drive->prepare(name));
    hub::ModelPull* pull = drive->add(std::move(prepared));
    return Download(std::make_unique<Impl>(std::move(drive), pull));
  });
}

const DownloadProgress* Download::next() {
  if (impl_->pull->ended()) return nullptr;
  const auto moved = at_edge([&]() -> Result<void> {
    impl_->drive->wait();
    impl_->drive->round();
    return {};
  });
  if (!moved) impl_->pull->break_off(moved.error());
  return &impl_->pull->progress();
}

Result<Downloaded> Download::result() const {
  const auto& result = impl_->pull->result();
  if (!result) return fail(Error::invalid, "the download has not ended");
  return *result;
}

void Download::cancel() { impl_->pull->cancel(); }

Result<Downloaded> download(const std::string& name, const HubOptions& options,
                            const OnDownload& on_progress) {
  return at_edge([&]() -> Result<Downloaded> {
    MUMMU_TRY(Download pull, Download::start(name, options));
    while (const DownloadProgress* progress = pull.next())
      if (on_progress && !on_progress(*progress)) pull.cancel();
    return pull.result();
  });
}

}  // namespace mummu
