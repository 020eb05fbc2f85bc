#pragma once

// What drives downloads, whichever way the host asks: rounds of work, and waits between them.

#include <chrono>
#include <map>
#include <memory>

#include "hub/model_pull.h"
#include "hub/net.h"
#include "mummu/hub.h"

namespace mummu::hub {

class Drive {
 public:
  //   errors   no_memory
  static Result<std::unique_ptr<Drive>> make(HubOptions options);

  //   errors   those of ModelPull::make
  Result<int64_t> add(const std::string& name);
  ModelPull* find(int64_t id);

  // One round without waiting. Whether a download has not ended.
  bool round();
  // Until there is something to do, or the time is over.
  void wait(std::chrono::milliseconds most);

  std::chrono::milliseconds next_timeout();
  const Net& net() const { return *net_; }
  HubClock& clock() { return *options_.clock; }

 private:
  Drive(std::unique_ptr<Net> net, HubOptions options);
  HubClock::Time deadline() const;

  HubOptions options_;
  std::unique_ptr<Net> net_;
  std::map<int64_t, std::unique_ptr<ModelPull>> pulls_;  // destroyed before the net
  int64_t last_id_ = 0;
};

}  // namespace mummu::hub
