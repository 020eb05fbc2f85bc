#pragma once

// The repositories of a store as they lie on the disk: which there are, which blobs their snapshots
// use, and how parts of them are removed. Refuses links in the place of folders.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hub/folder.h"
#include "hub/name.h"
#include "mummu/result.h"

namespace mummu::hub {

// Names without revision and file, sorted.
std::vector<HubName> repositories(const std::filesystem::path& store);

std::vector<std::string> commits(const RepositoryFolder& folder);

// Content -> how many names in all snapshots lead to it.
std::map<std::filesystem::path, int> links_to_content(const RepositoryFolder& folder);

// Whether the folder and those in it are folders themselves.
//   errors   not_found, invalid
Result<void> check_folders(const RepositoryFolder& folder);

// Whether nobody downloads into it.
//   errors   busy, io
Result<void> check_idle(const std::filesystem::path& store, const HubName& name);

int64_t size_of(const std::filesystem::path& file);
int64_t content_bytes(const RepositoryFolder& folder);  // of all blobs
int64_t part_bytes(const RepositoryFolder& folder);     // that unfinished downloads take

// Removes names of a snapshot, then content that no name leads to any more, empty folders and
// branches without a snapshot. Gives the bytes freed.
//   errors   io
Result<int64_t> remove_files(const RepositoryFolder& folder, const std::string& commit,
                             const std::vector<std::string>& files);

}  // namespace mummu::hub
