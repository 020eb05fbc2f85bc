#pragma once

// Many downloads, driven like a Worker: by a thread of its own (Downloader::start), by threads that
// it is lent (run, run_once, run_for), or by the host's event loop, which waits until one of
// poll_fds() is ready or next_timeout() is over and then calls run_once(). Each download is a
// stream of its progress: pulled, awaited and cancelled from any thread, as event_stream.h says;
// unread progress is replaced by newer. Functions may be called from any thread, except where they
// say otherwise.

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "mummu/callback.h"
#include "mummu/event_stream.h"
#include "mummu/export.h"
#include "mummu/hub.h"
#include "mummu/result.h"
#include "mummu/thread_facts.h"
#include "mummu/turn.h"

namespace mummu {

// A wait on a download that nobody drives lasts until somebody drives it, until cancel, or until
// the Downloader is stopped or destroyed. To cancel or destroy it leaves a state that any later
// download of the same file goes on with.
class MUMMU_API DownloadStream : public EventStream<DownloadProgress> {
 public:
  using EventStream<DownloadProgress>::EventStream;

  // How it ended, once the last progress has been read, and once.
  //   errors   invalid (not read to its end; already taken), those of download()
  Result<Downloaded> result();
};

template <>
struct ThreadFacts<DownloadStream> : MovableOnly {};  // one reader at a time, on any thread

namespace hub {
class DownloadState;
}

class MUMMU_API Downloader {
 public:
  struct PollFd {
    int fd = -1;
    bool read = false, write = false;
  };

  // A Downloader that works on a thread of its own.
  //   errors   no_memory, internal (no thread)
  static Result<Downloader> start(HubOptions options = hub_options());
  // A Downloader that is lent threads.
  //   errors   no_memory
  static Result<Downloader> make(HubOptions options = hub_options());
  Downloader(Downloader&&) noexcept;
  Downloader& operator=(Downloader&&) noexcept;
  // Cancels every download and waits for the thread that drives; on that thread itself, inside a
  // function it called, it does not wait.
  ~Downloader();

  //   errors   invalid (the name, the options; stopped, draining), busy (1024 are open)
  Result<DownloadStream> add(const std::string& name);

  // Lends this thread. Only one call at a time may drive, others get `invalid`.
  //   errors   invalid
  // Until `stop` is requested, which cancels nothing, or until the downloader is stopped or
  // drained.
  Result<void> run(std::stop_token stop = {});
  // One round without waiting.
  Result<Turn> run_once();
  // Rounds, with waiting for bytes, until the time is over or every download has ended.
  Result<Turn> run_for(std::chrono::steady_clock::duration budget);
  // As Worker::on_work.
  Result<void> on_work(Callback<void()> function);

  // For the loop that drives, on its thread. Descriptors above 1023 are left out; the timeout
  // covers them.
  std::vector<PollFd> poll_fds() const;
  std::chrono::milliseconds next_timeout() const;

  // Takes nothing new and returns when every download has ended. On a lent Downloader that nobody
  // drives it drives.
  //   errors   invalid (on a thread that drives)
  Result<void> drain();
  // Cancels every download; returns at once.
  void stop() noexcept;

 private:
  explicit Downloader(std::shared_ptr<hub::DownloadState> state);
  void destroy() noexcept;

  std::shared_ptr<hub::DownloadState> state_;
};

template <>
struct ThreadFacts<Downloader> : MovableOnly {};

}  // namespace mummu
