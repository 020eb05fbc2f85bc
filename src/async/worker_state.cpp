#include "async/worker_state.h"

#include <algorithm>
#include <bit>

#include "base/edge.h"
#include "base/fail.h"
#include "engine/engine_impl.h"
#include "model/model_impl.h"

namespace mummu {
namespace {

constexpr int64_t kMost = 1 << 20;  // of max_streams and max_events

TokenChannel& as_tokens(const std::shared_ptr<Channel>& channel) {
  return static_cast<TokenChannel&>(*channel);
}

auto find_live(Seat& seat, RequestId id) {
  return std::lower_bound(seat.live.begin(), seat.live.end(), id.value,
                          [](const auto& live, uint64_t value) { return live->id.value < value; });
}

// Where there is no memory for its end, a sequence goes on to it, and nobody is told.
void forget(Seat& seat, RequestId id) noexcept {
  try {
    seat.engine.forget(id);
  } catch (const std::bad_alloc&) {
  }
}

// The error, or its code alone where there is no memory for its message.
Error copy(const Error& error) noexcept {
  try {
    return error;
  } catch (const std::bad_alloc&) {
    return {error.code, ""};
  }
}

}  // namespace

Worker::State::State(const Device& device, const WorkerOptions& options)
    : Driver(options.max_streams), device_(&device.ops()), options_(options) {}

Result<void> Worker::State::check(const WorkerOptions& options) {
  for (const auto& [name, value] :
       {std::pair{"max_streams", options.max_streams}, std::pair{"max_events", options.max_events}})
    if (value < 1 || value > kMost)
      return fail(Error::invalid, "{} must be from 1 to {}, it is {}", name, kMost, value);
  return {};
}

Result<void> Worker::State::check(const std::shared_ptr<State>& state) {
  if (!state) return fail(Error::invalid, "this worker was moved from, or had no memory");
  if (state->forked()) return fail(Error::invalid, "this worker belongs to the parent process");
  return {};
}

// ---- any thread

Result<void> Worker::State::add(Engine engine, std::shared_ptr<const void> keep) {
  MUMMU_TRY(check(options_));
  if (!engine) return fail(Error::invalid, "this engine was moved from, or had no memory");
  Engine::Impl& impl = engine.impl();
  if (impl.model() && impl.model()->ops != device_)
    return fail(Error::invalid, "the engine's model lies on another device than the worker's");
  impl.role.assume();  // it was given to us, and nobody drives it yet
  MUMMU_TRY(impl.prepare());
  std::list<Seat> one;
  const Model::Impl* model = impl.model();
  one.push_back({.keep = std::move(keep), .engine = std::move(engine), .model = model, .live = {}});
  one.front().live.reserve(static_cast<size_t>(options_.max_streams));
  const Lock lock(mutex_);
  for (const Seat* seat : routes_)
    if (seat->model == model)
      return fail(Error::invalid, "the worker has an engine of that model already");
  routes_.push_back(&one.front());
  arrived_.splice(arrived_.end(), one);
  return {};
}

Seat* Worker::State::find_seat(const Model::Impl* model) {
  const Lock lock(mutex_);
  for (Seat* seat : routes_)
    if (seat->model == model) return seat;
  return nullptr;
}

Result<Stream> Worker::State::submit(Request request) {
  Seat* seat = find_seat(request.model);
  if (!seat) return fail(Error::invalid, "no engine of this worker has the request's model");
  MUMMU_TRY(seat->engine.impl().check(request));
  const std::stop_token host = request.options.cancel;
  auto channel = std::make_shared<TokenChannel>(
      shared_from_this(), static_cast<size_t>(options_.max_events), std::move(request));
  channel->seat = seat;
  MUMMU_TRY(open(channel));
  channel->watch(host);
  return Stream(std::move(channel));
}

Result<void> Worker::State::may_open(const Channel& channel) {
  const auto& tokens = static_cast<const TokenChannel&>(channel);
  const int64_t most = tokens.seat->engine.impl().max_waiting();
  int64_t& waiting = tokens.seat->waiting;
  if (waiting + tokens.choices() > most)
    return fail(Error::busy, "{} choices are waiting, at most {} may", waiting, most);
  waiting += tokens.choices();
  return {};
}

Result<void> Worker::State::status() {
  if (lost_) return copy(*lost_);
  return {};
}

Result<void> Worker::State::told_status() {
  const Lock lock(mutex_);
  return status();
}

WorkerCounts Worker::State::counts() {
  const Lock lock(mutex_);
  WorkerCounts counts = counts_;
  counts.streams = open();
  for (const Seat* seat : routes_) counts.waiting += seat->waiting;
  return counts;
}

// ---- driver

void Worker::State::publish() {
  WorkerCounts counts;
  counts.steps = steps_;
  for (Seat& seat : seats_) {
    Engine::Impl& engine = seat.engine.impl();
    engine.role.assume();  // who has the worker's role has its engines'
    counts.pages_used += engine.pages_used();
    counts.pages_free += engine.pages_free();
  }
  const Lock lock(mutex_);
  counts_ = counts;
}

void Worker::State::handle(const std::shared_ptr<Channel>& channel) {
  TokenChannel& tokens = as_tokens(channel);
  const bool closed = tokens.closed();
  if (closed) tokens.fire();
  if (gone() || tokens.stage == TokenChannel::Stage::gone) return;
  Seat& seat = *tokens.seat;
  if (tokens.stage == TokenChannel::Stage::fresh) {
    if (closed) return retire(tokens);
    return admit(std::static_pointer_cast<TokenChannel>(channel));
  }
  if (closed) {
    forget(seat, tokens.id);
    const auto found = find_live(seat, tokens.id);
    retire(tokens);
    seat.live.erase(found);
  } else if (!tokens.paused()) {
    seat.engine.resume(tokens.id);
  }
}

void Worker::State::admit(const std::shared_ptr<TokenChannel>& channel) {
  {
    const Lock lock(mutex_);
    seats_.splice(seats_.end(), arrived_);
  }
  Seat& seat = *channel->seat;
  auto id = seat.engine.admit(std::move(channel->request));
  if (id) {
    channel->id = *id;
    channel->stage = TokenChannel::Stage::running;
    seat.live.push_back(channel);  // within what is reserved
    return;
  }
  channel->fail(std::move(id).error());
  retire(*channel);
  channel->fire();
}

// Whoever sees that no stream is open (drain has returned) sees their pages back, too.
void Worker::State::retire(TokenChannel& channel) {
  channel.stage = TokenChannel::Stage::gone;
  publish();
  const Lock lock(mutex_);
  channel.seat->waiting -= channel.choices() - std::popcount(channel.started);
  closed_one();
}

bool Worker::State::has_work() {
  return std::any_of(seats_.begin(), seats_.end(),
                     [](const Seat& seat) { return seat.engine.has_work(); });
}

// One step of one engine; the others come before it is its turn again.
void Worker::State::step(SteadyTime) {
  for (auto seat = seats_.begin(); seat != seats_.end(); ++seat) {
    if (!seat->engine.has_work()) continue;
    seats_.splice(seats_.end(), seats_, seat);
    ++steps_;
    step_seat(*seat);
    if (!gone()) publish();
    return;
  }
}

void Worker::State::step_seat(Seat& seat) {
  auto report = seat.engine.step();
  if (report) {
    note(seat, **report);
  } else {  // all that ran in this engine have ended by it
    for (const auto& live : seat.live) live->moved = true;
    if (report.error().code == Error::device_lost) lose_device(report.error());
  }
  hand_out(seat);
}

// Marks the streams that something happened to.
void Worker::State::note(Seat& seat, const StepReport& report) {
  int started = 0;
  for (const StepReport::Choice& choice : report.choices) {
    const auto found = find_live(seat, choice.request);
    if (found == seat.live.end() || (*found)->id != choice.request) continue;
    TokenChannel& channel = **found;
    channel.moved = true;
    const uint64_t bit = uint64_t{1} << choice.choice;
    if (choice.computed == 0 || (channel.started & bit)) continue;
    channel.started |= bit;
    ++started;
  }
  if (started == 0) return;
  const Lock lock(mutex_);
  seat.waiting -= started;
}

// Engines of one device share its fate.
void Worker::State::lose_device(const Error& error) {
  {
    const Lock lock(mutex_);
    lost_ = copy(error);
  }
  for (const Seat& seat : seats_)
    for (const auto& live : seat.live) {
      if (live->moved) continue;
      live->fail(copy(error));
      post(live);
    }
}

void Worker::State::hand_out(Seat& seat) {
  Channel::WakeChain chain;
  for (size_t i = 0; i < seat.live.size();) {
    if (!seat.live[i]->moved) {
      ++i;
      continue;
    }
    const auto channel = seat.live[i];
    channel->moved = false;
    const bool goes_on = hand_out(seat, *channel, chain);
    if (gone()) return;
    if (goes_on) {
      ++i;
      continue;
    }
    forget(seat, channel->id);
    retire(*channel);
    seat.live.erase(seat.live.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// False: the stream has ended.
bool Worker::State::hand_out(Seat& seat, TokenChannel& channel, Channel::WakeChain& chain) {
  bool full = false;
  for (int choice = 0; choice < channel.choices(); ++choice) {
    full |= hand_out(seat, channel, choice, chain);
    if (gone()) return false;
  }
  if (channel.closed()) return false;
  if (full) seat.engine.pause(channel.id);
  return true;
}

// True: the stream is full.
bool Worker::State::hand_out(Seat& seat, TokenChannel& channel, int choice,
                             Channel::WakeChain& chain) {
  bool full = false;
  while (const Token* token = seat.engine.take(channel.id, choice)) {
    auto assigned = at_edge([&]() -> Result<void> {
      role_.assume();
      token_.assign(*token);
      return {};
    });
    if (!assigned) {
      channel.fail(std::move(assigned).error());
      channel.fire();
      return false;
    }
    if (token_.finish() == Finish::none) {
      full |= channel.push(token_, !lifted(), chain) == TokenChannel::Pushed::full;
    } else {
      auto completion = seat.engine.result(channel.id, choice);
      if (completion && completion->finish == Finish::error)
        completion = std::move(completion->error);
      channel.push_last(token_, choice, std::move(completion), chain);
    }
    if (gone()) return false;
  }
  return full;
}

void Worker::State::lift() {
  for (Seat& seat : seats_)
    for (const auto& live : seat.live) {
      live->lift_pause();
      seat.engine.resume(live->id);
    }
}

void Worker::State::close_all() noexcept {
  for (Seat& seat : seats_) {
    for (auto& live : seat.live) {
      forget(seat, live->id);
      live->stage = TokenChannel::Stage::gone;
      live->close(Error::cancelled, "the worker was stopped");
      send_last(std::move(live));
    }
    seat.live.clear();
  }
}

void Worker::State::destroy_driven() noexcept {
  std::list<Seat> dead = std::move(seats_);
  seats_.clear();
  const Lock lock(mutex_);
  dead.splice(dead.end(), arrived_);
  routes_.clear();
}

}  // namespace mummu
