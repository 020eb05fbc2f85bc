#include "async/token_channel.h"

#include <bit>

#include "base/fail.h"

namespace mummu {

void OwnedToken::assign(const Token& token) {
  token_ = token;
  text_.assign(token.text);
  ids_ = token.ids.size();
  if (ids_ <= kFew)
    std::copy(token.ids.begin(), token.ids.end(), few_ids_.begin());
  else
    many_ids_.assign(token.ids.begin(), token.ids.end());
  logprobs_.assign(token.logprobs.begin(), token.logprobs.end());
}

void OwnedToken::set_end(int choice, Finish finish) noexcept {
  token_ = {};
  token_.choice = choice;
  token_.finish = finish;
  text_.clear();
  ids_ = 0;
  logprobs_.clear();
}

const Token& OwnedToken::view() {
  token_.text = text_;
  token_.ids = {ids_ <= kFew ? few_ids_.data() : many_ids_.data(), ids_};
  token_.logprobs = logprobs_;
  return token_;
}

namespace {

constexpr uint64_t bit(int choice) { return uint64_t{1} << choice; }

// Beyond the bound: what one step may add to a stream that was nearly full, and the last events.
size_t ring_room(size_t bound, const Request& request) {
  return bound + 3 * static_cast<size_t>(request.options.n);
}

}  // namespace

TokenChannel::TokenChannel(std::shared_ptr<Driver> driver, size_t bound, Request to_admit)
    : Channel(std::move(driver), bound),
      request(std::move(to_admit)),
      choices_(static_cast<int>(request.options.n)),
      events_(ring_room(bound, request)),
      open_choices_(choices_ == 64 ? ~uint64_t{0} : bit(choices_) - 1),
      completions_(static_cast<size_t>(choices_)) {
  request.options.cancel = stop_.get_token();
}

void TokenChannel::watch(const std::stop_token& host) {
  if (host.stop_possible()) on_host_stop_.emplace(host, Host{weak_from_this()});
}

// The copy lives on: what is called may destroy this object.
void TokenChannel::Host::operator()() const noexcept {
  if (const auto keep = channel.lock()) keep->cancel();
}

size_t TokenChannel::queued() const {
  return events_.size() + (is_closed() ? static_cast<size_t>(std::popcount(open_choices_)) : 0);
}

const void* TokenChannel::take() {
  if (events_.size() > 0) {
    events_.pop(current_);
  } else {
    const int choice = std::countr_zero(open_choices_);
    open_choices_ &= ~bit(choice);
    cut_choices_ |= bit(choice);
    current_.set_end(choice, why() == Error::cancelled ? Finish::cancelled : Finish::error);
  }
  return &current_.view();
}

void TokenChannel::clear() noexcept { events_.clear(); }

Result<Completion> TokenChannel::result(int choice) {
  const Lock lock(mutex_);
  if (choice < 0 || choice >= choices_)
    return mummu::fail(Error::invalid, "the stream has {} choices, there is no {}", choices_,
                       choice);
  if (!is_closed() || queued() > 0)
    return mummu::fail(Error::invalid, "the stream has not been read to its end");
  if (cut_choices_ & bit(choice)) return error_ ? *error_ : Error{why(), message()};
  auto& completion = completions_[static_cast<size_t>(choice)];
  if (!completion)
    return mummu::fail(Error::not_found, "the result of choice {} has been taken", choice);
  auto out = std::move(*completion);
  completion.reset();
  return out;
}

TokenChannel::Pushed TokenChannel::push_locked(OwnedToken& token, bool bounded) {
  if (is_closed()) return Pushed::closed;
  try {
    events_.push(token);
  } catch (const std::bad_alloc&) {
    close_locked(Error::no_memory, "out of memory for an unread event");
    return Pushed::closed;
  }
  return bounded && pause_if_full() ? Pushed::full : Pushed::room;
}

TokenChannel::Pushed TokenChannel::push(OwnedToken& token, bool bounded, WakeChain& chain) {
  const Lock lock(mutex_);
  const Pushed pushed = push_locked(token, bounded);
  tell(chain);
  return pushed;
}

void TokenChannel::push_last(OwnedToken& token, int choice, Result<Completion> completion,
                             WakeChain& chain) {
  const Lock lock(mutex_);
  if (push_locked(token, false) != Pushed::closed) {
    completions_[static_cast<size_t>(choice)] = std::move(completion);
    open_choices_ &= ~bit(choice);
    if (open_choices_ == 0) close_locked(Error::cancelled, "");
  }
  tell(chain);
}

void TokenChannel::fail(Error error) noexcept {
  const Lock lock(mutex_);
  if (is_closed()) return;
  close_locked(error.code, "");
  error_ = std::move(error);
}

}  // namespace mummu
