#pragma once

// The network: requests over libcurl's multi interface, all on the thread that calls perform().
// Nothing here knows of models; nothing outside net.cpp and transfer.cpp knows of curl.

#include <chrono>
#include <memory>
#include <vector>

#include "mummu/downloader.h"
#include "mummu/result.h"

namespace mummu::hub {

class Transfer;

class Net {
 public:
  //   errors   no_memory
  static Result<std::unique_ptr<Net>> make();
  ~Net();
  Net(const Net&) = delete;
  Net& operator=(const Net&) = delete;

  // Moves what can be moved without waiting; transfers that ended know it afterwards.
  void perform();
  // Until a socket is ready, the time is over, or wake() was called.
  void poll(std::chrono::milliseconds time);
  void wake();  // from any thread
  int running() const { return running_; }

  std::vector<Downloader::PollFd> poll_fds() const;
  std::chrono::milliseconds next_timeout() const;  // negative: none

 private:
  friend class Transfer;
  explicit Net(void* multi) : multi_(multi) {}

  void* multi_;
  int running_ = 0;  // transfers in flight
};

}  // namespace mummu::hub
