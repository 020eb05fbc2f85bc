#include "hub/retry.h"

#include <algorithm>

#include "base/fail.h"

namespace mummu::hub {
namespace {

using std::chrono::milliseconds;

// An answer that no later attempt changes.
Error final_error(const Outcome& outcome, const AnswerHead& head, const std::string& what) {
  if (head.status == 404) return fail(Error::not_found, "{}: the hub does not have it (404)", what);
  if (head.status == 401 || head.status == 403)
    return fail(
        Error::invalid,
        "{}: the hub refuses access ({}): it is private, gated or absent; is HF_TOKEN set to "
        "a token that may read it?",
        what, head.status);
  return fail(Error::io, "{}: {}", what, outcome.problem);
}

}  // namespace

milliseconds Retry::backoff() {
  const int64_t whole = std::min<int64_t>(30'000, int64_t{500} << std::min(failures_ - 1, 6));
  std::uniform_int_distribution<int64_t> pick(whole / 2, whole);
  return milliseconds(pick(random_));
}

Result<void> Retry::after(const Outcome& outcome, const AnswerHead& head, const std::string& what,
                          HubClock::Time now) {
  if (outcome.kind == Outcome::Kind::refused) return final_error(outcome, head, what);
  ++failures_;
  if (outcome.unreachable) ++unreachable_;
  const auto code = head.status == 429 ? Error::busy : Error::io;
  if (unreachable_ >= unreachable_attempts_)
    return fail(code, "{}: the hub is out of reach: {}", what, outcome.problem);
  if (failures_ >= kAttempts)
    return fail(code, "{}: {}, {} times in a row", what, outcome.problem, failures_);
  if (head.retry_after_s > kMaxWait_s)
    return fail(code, "{}: {} and asks to wait {} s", what, outcome.problem, head.retry_after_s);
  const milliseconds wait =
      head.retry_after_s >= 0 ? milliseconds(head.retry_after_s * 1000) : backoff();
  next_ = now + wait;
  note_ = fmt::format("{}, again in {:.1f} s", outcome.problem,
                      static_cast<double>(wait.count()) / 1000);
  return {};
}

}  // namespace mummu::hub
