#pragma once

// The models on this machine: what is there and whole, how much room it takes, whether its bytes
// are still right, and how it goes away. The store is the Hugging Face hub's own cache folder,
// which Python shares. No function follows a link out of it; an absent store is an empty one.
// Values may be used by one thread at a time; downloads in other processes are respected by their
// locks.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mummu/export.h"
#include "mummu/hub.h"
#include "mummu/result.h"

namespace mummu {

struct StoredFile {
  std::string path{};  // inside the model
  std::string hash{};  // sha256, or git's id of a small file; empty: a plain copy
  int64_t bytes = 0;
  int links = 1;  // names in all snapshots of its repository that share these bytes
};

struct StoredModel {
  std::string name{};      // what download() and the functions below take
  std::string revision{};  // the commit
  std::string path{};      // what Model::load takes
  int64_t bytes = 0;
  std::vector<StoredFile> files{};
};

// What one repository takes on the disk.
struct StoreUse {
  std::string name{};
  int64_t bytes = 0;       // of content, each once
  int64_t part_bytes = 0;  // of downloads that are not finished
};

// What a verification found.
struct Verified {
  int64_t files = 0, bytes = 0;       // whose hash is right now
  int64_t plain = 0;                  // files without a known hash
  std::vector<std::string> healed{};  // were wrong and were fetched again
};

// Called between slices of hashing; false cancels.
using OnVerify = std::function<bool(int64_t bytes, int64_t total)>;

class MUMMU_API ModelStore {
 public:
  explicit ModelStore(HubOptions options = hub_options());

  // Whole models only, by name.
  std::vector<StoredModel> list() const;
  // A whole model, without a request.
  //   errors   invalid, not_found
  Result<StoredModel> find(const std::string& name) const;
  // Everything that takes room, unfinished downloads too.
  std::vector<StoreUse> use() const;

  // Removes a model: owner/name with all its revisions, files and unfinished downloads;
  // owner/name@revision or owner/name:file what only they use. Gives the bytes that were freed.
  //   errors   invalid (no single name; a link in the place of a folder), not_found, busy (a
  //            download of it is running), io
  Result<int64_t> remove(const std::string& name);

  // Hashes a model again. What is wrong is removed and, unless offline, fetched once more.
  //   errors   invalid, not_found, corrupt (offline, or wrong again), cancelled, those of
  //   download()
  Result<Verified> verify(const std::string& name, const OnVerify& on_progress = {});

  const std::string& folder() const { return options_.store; }

 private:
  HubOptions options_;
};

}  // namespace mummu
