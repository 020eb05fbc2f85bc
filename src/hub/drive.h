#pragma once

// What drives downloads, whichever way the host asks: rounds of work, and waits between them.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "hub/model_pull.h"
#include "hub/net.h"
#include "mummu/hub.h"

namespace mummu::hub {

class Drive {
 public:
  static constexpr std::chrono::milliseconds kLongestWait{100};

  //   errors   no_memory
  static Result<std::unique_ptr<Drive>> make(HubOptions options);

  // A download of this drive, which does nothing before it is added. Any thread.
  //   errors   those of ModelPull::make
  Result<std::unique_ptr<ModelPull>> prepare(const std::string& name) const;
  ModelPull* add(std::unique_ptr<ModelPull> pull);
  void remove(const ModelPull* pull) noexcept;

  // One round without waiting.
  void round();
  // Until there is something to do, or the time is over, or net().wake().
  void wait(std::chrono::milliseconds most = kLongestWait);

  std::chrono::milliseconds next_timeout();
  Net& net() const { return *net_; }

 private:
  Drive(std::unique_ptr<Net> net, HubOptions options, bool given_clock);
  HubClock::Time deadline() const;
  HubClock& clock() { return *options_.clock; }

  HubOptions options_;
  bool given_clock_;
  std::unique_ptr<Net> net_;
  std::vector<std::unique_ptr<ModelPull>> pulls_;  // destroyed before the net
};

}  // namespace mummu::hub
