#pragma once

// What a Loader drives: one load, one tensor a step, and the one channel that tells of it.

#include <optional>
#include <string>

#include "async/driver.h"
#include "async/progress_channel.h"
#include "model/load.h"
#include "mummu/load.h"

namespace mummu {

using LoadChannel = ProgressChannel<LoadProgress, Model>;

class LoadState final : public Driver {
 public:
  LoadState(std::string path, const Device& device, LoadOptions options);

  // Makes the channel; the load ends when it has been loaded.
  //   throws   std::bad_alloc
  std::shared_ptr<LoadChannel> open_channel();

 private:
  void handle(const std::shared_ptr<Channel>& channel) override MUMMU_REQUIRES(role_);
  bool has_work() override MUMMU_REQUIRES(role_) { return channel_ != nullptr; }
  void step(SteadyTime wait_until) override MUMMU_REQUIRES(role_);
  void lift() override MUMMU_REQUIRES(role_) {}
  void close_all() noexcept override MUMMU_REQUIRES(role_);
  void destroy_driven() noexcept override MUMMU_REQUIRES(role_) { load_.reset(); }

  Result<bool> read_next() MUMMU_REQUIRES(role_);
  void end(Result<Model> model) MUMMU_REQUIRES(role_);

  const std::string path_;
  const Device& device_;
  const LoadOptions options_;
  std::shared_ptr<LoadChannel> channel_ MUMMU_GUARDED_BY(role_);  // while it loads
  std::optional<ModelLoad> load_ MUMMU_GUARDED_BY(role_);
};

}  // namespace mummu
