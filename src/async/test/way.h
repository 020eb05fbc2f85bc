#pragma once

// For tests: every way to drive one request, alone or beside others. All must give the same bits.

#include <string>
#include <vector>

#include "engine/test/gate.h"

namespace mummu::test {

// The request runs on an engine of its own, in the options given; a stream's bound is max_pending.
// `company` counts the sequences of the forwards that computed the request, with those that the
// other engine of its worker computed meanwhile.
struct Way {
  const char* name;
  Result<Driven> (*drive)(Driving);
};

// callback, pull, next, on_ready, coroutine, asio (where there is Boost), host_loop, two_engines.
const std::vector<Way>& ways();
const Way& way_named(const std::string& name);

}  // namespace mummu::test
