#pragma once

// The channel of a generation. The driver puts in what the engine tells, already copied; the last
// event of each choice has its own place outside the bound, and comes with its Completion.

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "async/channel.h"
#include "async/ring.h"
#include "mummu/engine.h"

namespace mummu {

// A Token with what its views point to. Short texts and few ids allocate nothing.
class OwnedToken {
 public:
  OwnedToken() = default;
  OwnedToken(const OwnedToken&) = delete;
  OwnedToken& operator=(const OwnedToken&) = delete;
  OwnedToken(OwnedToken&&) noexcept = default;
  OwnedToken& operator=(OwnedToken&&) noexcept = default;

  //   throws   std::bad_alloc
  void assign(const Token& token);
  void set_end(int choice, Finish finish) noexcept;
  Finish finish() const { return token_.finish; }
  // The token, its views renewed: a copy of what was assigned may have moved.
  const Token& view();

 private:
  static constexpr size_t kFew = 4;

  Token token_;
  std::string text_;
  std::array<TokenId, kFew> few_ids_{};
  std::vector<TokenId> many_ids_;
  size_t ids_ = 0;
  std::vector<TokenLogprob> logprobs_;
};

struct Seat;

class TokenChannel final : public Channel {
 public:
  // Allocates all that its life needs, but longer texts.
  //   throws   std::bad_alloc
  TokenChannel(std::shared_ptr<Driver> driver, size_t bound, Request to_admit);

  // Watches the request's own stop_token; its cancel is the stream's.
  //   requires  held by a shared_ptr
  void watch(const std::stop_token& host);

  int choices() const { return choices_; }
  Result<Completion> result(int choice);

  // Driver
  enum class Pushed { room, full, closed };
  // Swaps the event in.
  Pushed push(OwnedToken& token, bool bounded, WakeChain& chain);
  // The last event of a choice, with what it came to.
  void push_last(OwnedToken& token, int choice, Result<Completion> completion, WakeChain& chain);
  // Ends all choices that have not ended.
  void fail(Error error) noexcept;

  // The driver's own notes about it.
  enum class Stage { fresh, running, gone };
  Request request;
  Seat* seat = nullptr;
  Stage stage = Stage::fresh;
  RequestId id;
  uint64_t started = 0;  // choices that run or have run, as bits
  bool moved = false;    // in the step at hand

 private:
  struct Host {
    std::weak_ptr<Channel> channel;
    void operator()() const noexcept;
  };

  size_t queued() const override MUMMU_REQUIRES(mutex_);
  const void* take() override MUMMU_REQUIRES(mutex_);
  void clear() noexcept override MUMMU_REQUIRES(mutex_);
  void interrupt() noexcept override { stop_.request_stop(); }
  Pushed push_locked(OwnedToken& token, bool bounded) MUMMU_REQUIRES(mutex_);

  const int choices_;
  std::stop_source stop_;  // what the engine looks at, between layers too
  Ring<OwnedToken> events_ MUMMU_GUARDED_BY(mutex_);
  OwnedToken current_ MUMMU_GUARDED_BY(mutex_);        // what take returned
  uint64_t open_choices_ MUMMU_GUARDED_BY(mutex_);     // whose last event was not pushed, as bits
  uint64_t cut_choices_ MUMMU_GUARDED_BY(mutex_) = 0;  // that ended by a close
  std::vector<std::optional<Result<Completion>>> completions_ MUMMU_GUARDED_BY(mutex_);
  std::optional<Error> error_ MUMMU_GUARDED_BY(mutex_);
  std::optional<std::stop_callback<Host>> on_host_stop_;
};

}  // namespace mummu
