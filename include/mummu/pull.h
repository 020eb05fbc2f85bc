#pragma once

// What a reading call on a stream comes to: an event, or why there is none. Reads as a pointer:
//   while (const Token* token = stream.next()) ...

#include <cassert>

namespace mummu {

enum class Pull {
  event,      // here it is
  empty,      // nothing now
  end,        // the last event has been read
  timeout,    // nothing until the deadline
  cancelled,  // the wait was ended: by its stop_token, or because the stream was destroyed
  invalid,    // somebody else reads, or this thread may not wait, or this is a forked child
};

// The same before it has a type.
struct Pulled {
  Pull why = Pull::end;
  const void* event = nullptr;
};

// The event lives in the stream until the next reading call on it.
template <typename Event>
class Next {
 public:
  Next() = default;
  explicit Next(Pulled pulled)
      : event_(static_cast<const Event*>(pulled.event)), why_(pulled.why) {}

  operator const Event*() const { return event_; }  // NOLINT(google-explicit-constructor)
  const Event* operator->() const { return event_; }
  const Event& operator*() const {
    assert(event_);
    return *event_;
  }
  explicit operator bool() const { return event_ != nullptr; }
  Pull why() const { return why_; }

 private:
  const Event* event_ = nullptr;
  Pull why_ = Pull::end;
};

}  // namespace mummu
