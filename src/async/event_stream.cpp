#include "mummu/event_stream.h"

#include "async/channel.h"
#include "async/leak.h"
#include "base/edge.h"
#include "base/fail.h"

namespace mummu {

void Canceller::operator()() const noexcept {
  if (channel_ && !channel_->forked()) channel_->cancel();
}

AnyStream& AnyStream::operator=(AnyStream&& other) noexcept {
  if (this == &other) return *this;
  destroy();
  channel_ = std::move(other.channel_);
  return *this;
}

AnyStream::~AnyStream() { destroy(); }

void AnyStream::destroy() noexcept {
  auto channel = std::exchange(channel_, nullptr);
  if (!channel) return;
  if (channel->forked()) return leak(std::move(channel));
  channel->detach();
}

// Each of these holds a share of its own: the stream may be destroyed by what it calls.

Pulled AnyStream::pull() {
  const auto channel = channel_;
  return channel ? mummu::pull(*channel) : Pulled{Pull::invalid};
}

Pulled AnyStream::pull_until(std::chrono::steady_clock::time_point until) {
  const auto channel = channel_;
  if (!channel || channel->forked()) return {Pull::invalid};
  return channel->next_until(until);
}

Result<Ticket> AnyStream::on_ready(Callback<void()> function) {
  const auto channel = channel_;
  return at_edge([&]() -> Result<Ticket> {
    if (!channel) return fail(Error::cancelled, "this stream was moved from");
    if (channel->forked()) return fail(Error::invalid, "this stream belongs to the parent process");
    Ticket ticket;
    switch (mummu::on_ready(*channel, function, ticket)) {
      case Pull::invalid:
        return fail(Error::invalid, "somebody reads this stream already");
      case Pull::cancelled:
        return fail(Error::cancelled, "the stream was destroyed");
      default:
        return ticket;
    }
  });
}

bool AnyStream::disarm(Ticket ticket) {
  const auto channel = channel_;
  return channel && mummu::disarm(*channel, ticket);
}

bool AnyStream::done() const { return !channel_ || (!channel_->forked() && channel_->done()); }

void AnyStream::cancel() noexcept { canceller()(); }

Pulled pull(Channel& channel) {
  if (channel.forked()) return {Pull::invalid};
  return channel.try_next();
}

Pull on_ready(Channel& channel, Callback<void()>& function, Ticket& ticket) {
  if (channel.forked()) return Pull::invalid;
  return channel.on_ready(function, ticket.value);
}

bool disarm(Channel& channel, Ticket ticket) {
  return !channel.forked() && channel.disarm(ticket.value);
}

}  // namespace mummu
