#pragma once

// What a Downloader drives: downloads by rounds, and the channel of each.

#include <memory>
#include <string>
#include <vector>

#include "async/driver.h"
#include "async/progress_channel.h"
#include "hub/drive.h"
#include "mummu/downloader.h"

namespace mummu::hub {

class DownloadChannel final : public ProgressChannel<DownloadProgress, Downloaded> {
 public:
  DownloadChannel(std::shared_ptr<Driver> driver, std::unique_ptr<ModelPull> pull)
      : ProgressChannel(std::move(driver)), to_begin(std::move(pull)) {}

  std::unique_ptr<ModelPull> to_begin;  // the driver's, once the channel is in its inbox
};

class DownloadState final : public Driver {
 public:
  static constexpr int64_t kMostOpen = 1024;

  explicit DownloadState(std::unique_ptr<Drive> drive);

  //   errors   those of Downloader::add
  Result<std::shared_ptr<Channel>> add(const std::string& name);

  // Driver's thread, outside drive().
  std::vector<Downloader::PollFd> poll_fds();
  std::chrono::milliseconds next_timeout();

 private:
  struct Live {
    std::shared_ptr<DownloadChannel> channel;
    ModelPull* pull = nullptr;
  };

  void handle(const std::shared_ptr<Channel>& channel) override MUMMU_REQUIRES(role_);
  bool has_work() override MUMMU_REQUIRES(role_) { return !live_.empty(); }
  void step(SteadyTime wait_until) override MUMMU_REQUIRES(role_);
  void lift() override MUMMU_REQUIRES(role_) {}
  void close_all() noexcept override MUMMU_REQUIRES(role_);
  void destroy_driven() noexcept override MUMMU_REQUIRES(role_);
  void rouse() noexcept override MUMMU_REQUIRES(mutex_);
  const char* stopped() const noexcept override { return "the downloader was stopped"; }
  const char* draining() const noexcept override { return "the downloader is being drained"; }

  void begin(std::shared_ptr<DownloadChannel> channel) MUMMU_REQUIRES(role_);
  Result<void> move(SteadyTime wait_until) MUMMU_REQUIRES(role_);
  void end(Live live) MUMMU_REQUIRES(role_);

  std::unique_ptr<Drive> drive_;       // touched by add, and by whoever drives
  Net* net_ MUMMU_GUARDED_BY(mutex_);  // to be woken; null: it is no more
  std::vector<Live> live_ MUMMU_GUARDED_BY(role_);
};

}  // namespace mummu::hub
