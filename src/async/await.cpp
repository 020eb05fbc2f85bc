// co_await on a channel: taking the reader's place, arming the executor, claiming the frame.

#include "mummu/await.h"

#include "async/channel.h"

namespace mummu {

// ---- the channel's side

bool Channel::await_ready(bool& refused) {
  const Lock lock(mutex_);
  refused = taken();
  return refused || ready();
}

// Takes the reader's place before anything is armed.
bool Channel::place_await(uint64_t& generation) {
  const Lock lock(mutex_);
  if (taken()) return false;
  awaiting_ = true;
  await_stopped_ = false;
  generation = ++generation_;
  return true;
}

// False: there is something to read already, or a stop. After true the frame may be gone.
bool Channel::arm_await(std::coroutine_handle<> frame, std::shared_ptr<Root> root,
                        Executor& executor) {
  const Lock lock(mutex_);
  if (ready() || await_stopped_) return false;
  frame_ = frame;
  root_ = std::move(root);
  executor_ = std::move(executor);
  return true;
}

Pulled Channel::finish_await(bool placed) {
  bool mail = false;
  Pulled pulled;
  {
    const Lock lock(mutex_);
    if (placed) awaiting_ = false;
    const bool stopped = std::exchange(await_stopped_, false);
    pulled = stopped && !ready() ? Pulled{Pull::cancelled} : take_next(mail);
  }
  if (mail) post();
  return pulled;
}

// The frame dies while it waits.
void Channel::leave_await(uint64_t generation) noexcept {
  Executor dead;  // both are destroyed after the lock
  std::shared_ptr<Root> root;
  const Lock lock(mutex_);
  if (generation_ != generation || !awaiting_) return;
  frame_ = {};
  awaiting_ = false;
  dead = std::move(executor_);
  root = std::move(root_);
}

void Channel::stop_await(uint64_t generation) noexcept {
  const Lock lock(mutex_);
  if (generation_ != generation || !awaiting_) return;
  await_stopped_ = true;
  fire_locked();
}

std::coroutine_handle<> Channel::claim(uint64_t generation, std::shared_ptr<Root>& root) noexcept {
  const Lock lock(mutex_);
  if (generation_ != generation || !frame_) return {};
  root = std::move(root_);
  return std::exchange(frame_, {});
}

void Channel::drop_await(uint64_t generation) noexcept {
  std::shared_ptr<Root> root;
  if (!claim(generation, root)) return;
  {
    const Lock lock(mutex_);
    if (generation_ == generation) awaiting_ = false;
  }
  if (root) root->abandon();
}

// ---- the frame's side

bool Await::ready() {
  if (!channel_->forked()) return channel_->await_ready(refused_);
  refused_ = true;
  return true;
}

bool Await::suspend(std::coroutine_handle<> frame, std::shared_ptr<Root> root, Executor executor) {
  const auto channel = channel_;  // once armed, this object may be gone
  if (!channel->place_await(generation_)) {
    refused_ = true;
    return false;
  }
  placed_ = true;
  // Before arming, because the frame may be gone after that; it may be called at once.
  if (root && root->stop().stop_possible())
    on_stop_.emplace(root->stop(), Stopped{channel.get(), generation_});
  return channel->arm_await(frame, std::move(root), executor);
}

Pulled Await::finish() {
  on_stop_.reset();
  if (refused_) return {Pull::invalid};
  return channel_->finish_await(std::exchange(placed_, false));
}

Await::~Await() {
  on_stop_.reset();
  if (placed_) channel_->leave_await(generation_);
}

// This object may be destroyed by what it calls, where an executor resumes at once.
void Await::Stopped::operator()() const noexcept {
  const auto keep = channel->shared_from_this();
  keep->stop_await(generation);
}

Resume::Resume(std::shared_ptr<Channel> channel, uint64_t generation) noexcept
    : channel_(std::move(channel)), generation_(generation) {}

Resume::~Resume() {
  if (channel_) channel_->drop_await(generation_);
}

void Resume::operator()() noexcept {
  const auto channel = std::exchange(channel_, nullptr);
  if (!channel) return;
  std::shared_ptr<Root> root;
  const auto frame = channel->claim(generation_, root);
  if (!frame) return;
  if (root)
    Root::run(std::move(root), frame);
  else
    frame.resume();
}

}  // namespace mummu
