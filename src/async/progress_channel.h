#pragma once

// The channel of long work that tells of its progress and ends with one value (a load, a download).
// It keeps the newest progress only, so a slow reader holds up nothing.

#include <optional>
#include <utility>

#include "async/channel.h"
#include "base/fail.h"

namespace mummu {

template <typename Progress, typename Value>
class ProgressChannel : public Channel {
 public:
  explicit ProgressChannel(std::shared_ptr<Driver> driver) : Channel(std::move(driver), 1) {}

  void push(const Progress& progress) {
    WakeChain chain;
    const Lock lock(mutex_);
    if (is_closed()) return;
    newest_ = progress;
    tell(chain);
  }
  // The end, with what it came to.
  void finish(Result<Value> value) {
    WakeChain chain;
    const Lock lock(mutex_);
    if (is_closed()) return;
    value_ = std::move(value);
    close_locked(Error::Code::cancelled, "");
    tell(chain);
  }
  // Once, after the last progress has been read.
  Result<Value> result() {
    const Lock lock(mutex_);
    if (!is_closed() || queued() > 0)
      return fail(Error::Code::invalid, "the progress has not been read to its end");
    if (!value_) return Error{why(), message()};
    auto value = std::move(*value_);
    value_ = fail(Error::Code::invalid, "the result has been taken");
    return value;
  }

 private:
  size_t queued() const override MUMMU_REQUIRES(mutex_) { return newest_ ? 1 : 0; }
  const void* take() override MUMMU_REQUIRES(mutex_) {
    current_ = std::move(*newest_);
    newest_.reset();
    return &current_;
  }
  void clear() noexcept override MUMMU_REQUIRES(mutex_) { newest_.reset(); }

  std::optional<Progress> newest_ MUMMU_GUARDED_BY(mutex_);
  Progress current_ MUMMU_GUARDED_BY(mutex_);
  std::optional<Result<Value>> value_ MUMMU_GUARDED_BY(mutex_);
};

}  // namespace mummu
