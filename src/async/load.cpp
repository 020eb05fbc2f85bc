// The public edge of Loader.

#include "mummu/load.h"

#include "async/leak.h"
#include "async/load_state.h"
#include "base/edge.h"
#include "base/fail.h"

namespace mummu {
namespace {

Result<void> check(const std::shared_ptr<LoadState>& state) {
  if (!state) return fail(Error::invalid, "this loader was moved from, or had no memory");
  if (state->forked()) return fail(Error::invalid, "this loader belongs to the parent process");
  return {};
}

std::shared_ptr<LoadState> make_state(const std::string& path, const Device& device,
                                      LoadOptions options) noexcept {
  try {
    return std::make_shared<LoadState>(path, device, std::move(options));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::shared_ptr<Channel> open_channel(const std::shared_ptr<LoadState>& state) noexcept {
  try {
    return state ? state->open_channel() : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

Loader::Loader(std::shared_ptr<LoadState> state)
    : EventStream<LoadProgress>(open_channel(state)), state_(std::move(state)) {
  if (!*this) state_ = nullptr;
}

Loader::Loader(const std::string& path, const Device& device, LoadOptions options)
    : Loader(make_state(path, device, std::move(options))) {}

Result<Loader> Loader::start(const std::string& path, const Device& device, LoadOptions options) {
  Loader loader(path, device, std::move(options));
  return at_edge([&]() -> Result<Loader> {
    if (!loader) return fail(Error::no_memory, "out of memory");
    loader.state_->start_thread();
    return std::move(loader);
  });
}

Loader::Loader(Loader&& other) noexcept = default;

Loader& Loader::operator=(Loader&& other) noexcept {
  if (this == &other) return *this;
  destroy();
  EventStream<LoadProgress>::operator=(std::move(other));
  state_ = std::move(other.state_);  // NOLINT(bugprone-use-after-move): the base took its own part
  return *this;
}

Loader::~Loader() { destroy(); }

void Loader::destroy() noexcept {
  auto state = std::exchange(state_, nullptr);
  if (!state) return;
  if (state->forked()) return leak(std::move(state));
  EventStream<LoadProgress>::operator=({});  // after this nothing of the user's is called
  state->shut_down();
}

Result<void> Loader::run(std::stop_token stop) {
  return at_edge([&]() -> Result<void> {
    MUMMU_TRY(check(state_));
    MUMMU_TRY(state_->drive({.stop = std::move(stop)}));
    return {};
  });
}

Result<Turn> Loader::run_once() {
  return at_edge([&]() -> Result<Turn> {
    MUMMU_TRY(check(state_));
    return state_->drive({.one_step = true, .wait = false});
  });
}

Result<Turn> Loader::run_for(std::chrono::steady_clock::duration budget) {
  return at_edge([&]() -> Result<Turn> {
    MUMMU_TRY(check(state_));
    return state_->drive({.time = time_after(budget), .wait = false});
  });
}

Result<Model> Loader::result() {
  return at_edge([&]() -> Result<Model> {
    MUMMU_TRY(check(state_));
    return static_cast<LoadChannel&>(*channel()).result();
  });
}

}  // namespace mummu
