#include "async/load_state.h"

#include "base/edge.h"
#include "base/fail.h"

namespace mummu {

LoadState::LoadState(std::string path, const Device& device, LoadOptions options)
    : Driver(1), path_(std::move(path)), device_(device), options_(std::move(options)) {}

std::shared_ptr<LoadChannel> LoadState::open_channel() {
  auto channel = std::make_shared<LoadChannel>(shared_from_this());
  role_.assume();  // nobody drives yet
  channel_ = channel;
  (void)open(channel);  // nothing else was opened
  drain_soon();
  return channel;
}

// Its only mail besides the opening is a cancel.
void LoadState::handle(const std::shared_ptr<Channel>& channel) {
  if (!channel->closed() || !channel_) return;
  end(fail(Error::cancelled, "{}: the load was cancelled", path_));
}

void LoadState::step(SteadyTime) {
  auto more = at_edge([&] {
    role_.assume();
    return read_next();
  });
  const auto channel = channel_;  // the loader may die in what is called
  if (more && *more) return channel->push(load_->progress());
  if (!more) return end(std::move(more).error());
  end(at_edge([&] {
    role_.assume();
    return load_->finish();
  }));
}

Result<bool> LoadState::read_next() {
  if (!load_) {
    MUMMU_TRY(load_, ModelLoad::plan(path_, device_, options_));
    return true;
  }
  if (options_.on_progress && !options_.on_progress(load_->progress()))
    return fail(Error::cancelled, "{}: the load was cancelled", path_);
  return load_->step();
}

void LoadState::end(Result<Model> model) {
  const auto channel = std::exchange(channel_, nullptr);
  load_.reset();
  channel->finish(std::move(model));
  channel->fire();
  if (gone()) return;
  const Lock lock(mutex_);
  closed_one();
}

void LoadState::close_all() noexcept {
  const auto channel = std::exchange(channel_, nullptr);
  load_.reset();
  if (!channel) return;
  channel->close(Error::cancelled, "the loader was destroyed");
  send_last(channel);
}

}  // namespace mummu
