#pragma once

// What a Loader drives: one load, one tensor a step, and the one channel that tells of it.

#include <optional>
#include <string>

#include "async/driver.h"
#include "model/load.h"
#include "mummu/load.h"

namespace mummu {

// Keeps the newest progress only.
class ProgressChannel final : public Channel {
 public:
  explicit ProgressChannel(std::shared_ptr<Driver> driver) : Channel(std::move(driver), 1) {}

  void push(const LoadProgress& progress);
  // The end, with what the load came to.
  void finish(Result<Model> model);
  Result<Model> result();

 private:
  size_t queued() const override MUMMU_REQUIRES(mutex_) { return newest_ ? 1 : 0; }
  const void* take() override MUMMU_REQUIRES(mutex_);
  void clear() noexcept override MUMMU_REQUIRES(mutex_) { newest_.reset(); }

  std::optional<LoadProgress> newest_ MUMMU_GUARDED_BY(mutex_);
  LoadProgress current_ MUMMU_GUARDED_BY(mutex_);
  std::optional<Result<Model>> model_ MUMMU_GUARDED_BY(mutex_);
};

class LoadState final : public Driver {
 public:
  LoadState(std::string path, const Device& device, LoadOptions options);

  // Makes the channel; the load ends when it has been loaded.
  //   throws   std::bad_alloc
  std::shared_ptr<ProgressChannel> open_channel();

 private:
  void handle(const std::shared_ptr<Channel>& channel) override MUMMU_REQUIRES(role_);
  bool has_work() override MUMMU_REQUIRES(role_) { return channel_ != nullptr; }
  void step() override MUMMU_REQUIRES(role_);
  void lift() override MUMMU_REQUIRES(role_) {}
  void close_all() noexcept override MUMMU_REQUIRES(role_);
  void destroy_driven() noexcept override MUMMU_REQUIRES(role_) { load_.reset(); }

  Result<bool> read_next() MUMMU_REQUIRES(role_);
  void end(Result<Model> model) MUMMU_REQUIRES(role_);

  const std::string path_;
  const Device& device_;
  const LoadOptions options_;
  std::shared_ptr<ProgressChannel> channel_ MUMMU_GUARDED_BY(role_);  // while it loads
  std::optional<ModelLoad> load_ MUMMU_GUARDED_BY(role_);
};

}  // namespace mummu
