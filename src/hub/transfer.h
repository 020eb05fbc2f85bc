#pragma once

// One GET or HEAD, with its redirects. The token goes to the origin (scheme, host, port) of the
// first request only; a redirect from https to http is refused; headers are bounded; the body of an
// answer that is no success is thrown away. Bytes go to a sink as they come.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hub/net.h"

namespace mummu::hub {

struct TransferOptions {
  std::string url{};
  std::string token{};
  std::string ca_file{};
  int64_t begin = 0, end = -1;  // bytes; end < 0: the whole, without a Range header
  bool head = false;
};

// What the answer's headers said; of the last answer, but the linked_ ones of any on the way.
struct AnswerHead {
  int status = 0;
  int64_t length = -1;                         // of this answer's body; -1: not said
  int64_t range_begin = -1, range_total = -1;  // Content-Range
  int64_t linked_size = -1;                    // X-Linked-Size: of the file behind a redirect
  std::string etag{};                          // X-Linked-Etag, else ETag; without quotes and W/
  std::string commit{};                        // X-Repo-Commit
  int64_t retry_after_s = -1;
};

struct Outcome {
  enum class Kind {
    ok,
    retry,    // it may work the next time
    refused,  // it will not
    stopped,  // the sink wanted no more
  };
  Kind kind = Kind::ok;
  bool unreachable = false;  // no connection came about
  std::string problem{};     // "the hub answered 500", "the connection broke"
};

class Transfer {
 public:
  // Called with body bytes of a 200 or 206, after `head` is complete; false: stop.
  using Sink = std::function<bool(const AnswerHead&, std::span<const std::byte>)>;

  Transfer(Net& net, TransferOptions options, Sink sink, HubClock::Time now);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  const std::optional<Outcome>& outcome() const { return outcome_; }  // empty: still running
  const AnswerHead& head() const { return head_; }
  const std::string& url() const { return url_; }
  // Whether a byte came since the last call.
  bool take_activity();
  // When it was last seen to move; whoever drives it keeps this true.
  HubClock::Time last_move;

 private:
  friend class Net;
  static size_t on_body(char* data, size_t size, size_t count, void* self);
  static size_t on_header(char* data, size_t size, size_t count, void* self);
  bool take_header(std::string_view line);
  void begin_answer(std::string_view status_line);
  void ended(int code);
  void launch();
  void withdraw();
  std::optional<Outcome> follow();
  Outcome judge(int code) const;
  Outcome judge_status() const;
  bool same_origin() const;

  Net& net_;
  TransferOptions options_;
  Sink sink_;
  void* easy_ = nullptr;
  void* headers_ = nullptr;
  bool in_flight_ = false, moved_ = false, stopped_ = false, headers_too_long_ = false;
  std::string url_;  // after redirects
  int redirects_ = 0;
  int64_t header_bytes_ = 0;
  AnswerHead head_;
  std::optional<Outcome> outcome_{};
};

}  // namespace mummu::hub
