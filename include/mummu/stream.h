#pragma once

// A generation that a Worker computes. Made by Worker::submit; read as event_stream.h says. At most
// `max_events` wait in it; a reader who is slower pauses its own sequence and nobody else's. Its
// pages return within one step after it was cancelled or destroyed. It may outlive its Worker; then
// it ends.
//
// When it was cancelled, its Worker stopped or the device was lost, the events that are there still
// come, then one for each choice that says how it ended, then the end.

#include "mummu/engine.h"
#include "mummu/event_stream.h"
#include "mummu/export.h"
#include "mummu/result.h"
#include "mummu/thread_facts.h"

namespace mummu {

class MUMMU_API Stream : public EventStream<Token> {
 public:
  using EventStream<Token>::EventStream;

  // What a choice came to; once the last event has been read, and once.
  //   errors   invalid (not read to its end, no such choice), not_found (already taken), cancelled
  //            (what was read is the answer), device_lost, and whatever ended the choice
  Result<Completion> result(int choice = 0);
};

template <>
struct ThreadFacts<Stream> : MovableOnly {};  // one reader at a time, on any thread

}  // namespace mummu
