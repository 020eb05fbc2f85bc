#pragma once

// Models from elsewhere: a name becomes files in the store, which is the Hugging Face hub's own
// cache folder, so that what Python downloaded is used and the other way round. One state machine,
// three ways to drive it: download() blocks, Download is asked again and again, a Downloader
// (downloader.h) drives many. The first two start no thread; a Download belongs to one thread at a
// time.
//
// A file gets its name in the store only after its length and its hash were checked; until then it
// is a .part that any later download of the same file goes on with, whatever ended this one.
//
// A name is one of
//   smollm2-135m-instruct[:q4_k_m]     of the catalog
//   owner/name[@revision][:file]       a repository; instead of a file a quantisation ("q4_k_m")
//   https://host/path/file.gguf        one file
//
// libcurl's global initialisation happens once in a process, at the first download, unless the host
// has called curl_global_init before; it is never undone here.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "mummu/export.h"
#include "mummu/result.h"
#include "mummu/thread_facts.h"

namespace mummu {

// Time, as stall detection and backoff see it; a test's own clock makes 30 s cost nothing.
class MUMMU_API HubClock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  virtual ~HubClock() = default;
  virtual Time now() = 0;
  // Called while no request is in flight.
  virtual void sleep_until(Time time) = 0;
};

struct HubOptions {
  std::string endpoint = "https://huggingface.co";
  std::string token{};                // sent to the endpoint's scheme, host and port only
  std::string store{};                // folder
  std::string ca_file{};              // certificates to trust; empty: the system's
  bool offline = false;               // no request at all
  int files = 4;                      // at once
  int connections = 4;                // ranges of one large file at once
  int64_t range_bytes = 32 << 20;     // of a range, more for files with more than 32 of them
  bool hash_thread = false;           // a thread for each file in progress, which hashes it
  std::shared_ptr<HubClock> clock{};  // null: the machine's
};

// What the environment says: HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE; the store is MUMMU_HOME, else
// HF_HUB_CACHE, else HF_HOME/hub, else XDG_CACHE_HOME or ~/.cache + /huggingface/hub; ca_file is
// CURL_CA_BUNDLE, else SSL_CERT_FILE.
//   source   huggingface_hub's documentation, "Environment variables"
MUMMU_API HubOptions hub_options();

struct DownloadProgress {
  enum class Phase { asking, fetching, waiting, done };
  Phase phase = Phase::asking;
  int64_t bytes = 0;    // of the model that are here, those of earlier runs too
  int64_t total = 0;    // 0: not known yet
  int64_t fetched = 0;  // bytes that came over the network in this run
  int files = 0, files_done = 0;
  std::string note{};  // why it waits: "the hub answered 429, again in 3 s"

  using thread_members = ThreadMembers<Phase, int64_t, int, std::string>;
};

// How a download ended.
struct Downloaded {
  std::string path{};      // what Model::load takes: a file or a folder
  std::string revision{};  // the commit
  int64_t bytes = 0;       // of all its files
  int64_t fetched = 0;     // over the network; 0: all was here

  using thread_members = ThreadMembers<std::string, int64_t>;
};

// Called at least ten times a second; false cancels.
using OnDownload = std::function<bool(const DownloadProgress&)>;

// Downloads, or finds that all is here.
//   errors   invalid (the name; access refused), not_found (the hub has no such repository,
//   revision
//            or file, or offline and not here), corrupt (length or hash, fetched twice), io
//            (network, disk, disk full), busy (the hub's 429), cancelled, unsupported
MUMMU_API Result<Downloaded> download(const std::string& name, const HubOptions& options,
                                      const OnDownload& on_progress = {});

// A download that is pulled. Destroying it leaves a state that can be resumed.
class MUMMU_API Download {
 public:
  //   errors   invalid (the name, the options), no_memory
  static Result<Download> start(const std::string& name, const HubOptions& options = hub_options());
  Download(Download&&) noexcept;
  Download& operator=(Download&&) noexcept;
  ~Download();

  // One round of work on the calling thread, and before it at most 100 ms of waiting for bytes.
  // Null at the end. The progress lives until the next call.
  const DownloadProgress* next();
  // How it ended, after next() has given null.
  Result<Downloaded> result() const;
  void cancel();

  struct Impl;

 private:
  explicit Download(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mummu
