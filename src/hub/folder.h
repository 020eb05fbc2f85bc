#pragma once

// Where the files of one repository lie in the store:
//   models--owner--name/blobs/ETAG                  content, named by its hash
//   models--owner--name/snapshots/COMMIT/a/b.json   links to ../../../blobs/ETAG
//   models--owner--name/refs/main                   the commit that a branch pointed at
//   .locks/models--owner--name/ETAG.lock            held by whoever downloads that blob
// and our own: blobs/ETAG.part with ETAG.part.map, a download that is not finished.
//   source   huggingface_hub's documentation, "Understand caching"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "hub/name.h"
#include "mummu/result.h"

namespace mummu::hub {

class RepositoryFolder {
 public:
  RepositoryFolder(const std::filesystem::path& store, const HubName& name);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path blobs() const { return path_ / "blobs"; }
  std::filesystem::path snapshots() const { return path_ / "snapshots"; }
  std::filesystem::path blob(std::string_view etag) const { return blobs() / etag; }
  std::filesystem::path part(std::string_view etag) const;
  std::filesystem::path snapshot(std::string_view commit) const { return snapshots() / commit; }
  std::filesystem::path ref(std::string_view revision) const { return path_ / "refs" / revision; }
  std::filesystem::path lock(std::string_view etag) const;

  // The commit that a revision stands for: itself, or what refs/ recorded.
  std::optional<std::string> commit(const std::string& revision) const;

  //   errors   io
  Result<void> make() const;
  // Makes snapshots/COMMIT/FILE a link to a blob, in place of whatever had that name.
  Result<void> link(std::string_view commit, const std::string& file, std::string_view etag) const;
  Result<void> record(std::string_view revision, std::string_view commit) const;

 private:
  std::filesystem::path path_, locks_;
};

// The name of the folder: "models--owner--name", or "urls--HOST--HASH".
std::string folder_name(const HubName& name);
// The other way round for repositories; empty: no folder of one.
std::string repository_of_folder(std::string_view folder);

// Writes a small file under a temporary name, makes it durable and gives it its own.
//   errors   io
Result<void> write_durably(const std::filesystem::path& path, std::string_view text);
// Makes a rename inside the folder durable.
void sync_folder(const std::filesystem::path& folder);
// At most 4 kB of a small regular file, without white space around; empty: none.
std::string read_line(const std::filesystem::path& path);

}  // namespace mummu::hub
