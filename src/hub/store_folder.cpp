#include "hub/store_folder.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/fail.h"
#include "hub/installed.h"
#include "hub/lock.h"
#include "hub/text.h"

namespace mummu::hub {
namespace fs = std::filesystem;
namespace {

bool is_real_folder(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == fs::file_type::directory;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  if (!is_real_folder(folder)) return out;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    out.push_back(at->path());
  std::ranges::sort(out);
  return out;
}

bool is_part(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".part") || name.ends_with(".part.map") || name.ends_with(".incomplete");
}

int64_t allocated(const fs::path& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_blocks * 512 : 0;
}

std::string name_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.starts_with("urls--") ? read_line(folder / "url") : repository_of_folder(name);
}

// Branches that lead to a snapshot that is gone.
void remove_stale_refs(const RepositoryFolder& folder) {
  std::error_code error;
  std::vector<fs::path> stale;
  const fs::path refs = folder.path() / "refs";
  if (!is_real_folder(refs)) return;
  for (fs::recursive_directory_iterator at(refs, error), end; !error && at != end;
       at.increment(error)) {
    const std::string commit = read_line(at->path());
    if (is_hex(commit, 40) && !is_real_folder(folder.snapshot(commit))) stale.push_back(at->path());
  }
  for (const fs::path& ref : stale) fs::remove(ref, error);
}

// Removes a folder and those above it, as long as they are empty and inside `top`.
void remove_empty(fs::path folder, const fs::path& top) {
  std::error_code error;
  while (folder != top && fs::is_empty(folder, error) && !error && fs::remove(folder, error))
    folder = folder.parent_path();
}

}  // namespace

std::vector<HubName> repositories(const fs::path& store) {
  std::vector<HubName> names;
  for (const fs::path& folder : entries(store)) {
    if (!is_real_folder(folder)) continue;
    auto name = parse_name(name_of(folder));
    if (name && folder_name(*name) == folder.filename()) names.push_back(*name);
  }
  return names;
}

std::vector<std::string> commits(const RepositoryFolder& folder) {
  std::vector<std::string> out;
  for (const fs::path& snapshot : entries(folder.snapshots()))
    if (is_hex(snapshot.filename().string(), 40) && is_real_folder(snapshot))
      out.push_back(snapshot.filename().string());
  return out;
}

std::map<fs::path, int> links_to_content(const RepositoryFolder& folder) {
  std::map<fs::path, int> links;
  for (const std::string& commit : commits(folder))
    for (const std::string& file : files_of_snapshot(folder, commit))
      ++links[content_of(folder, commit, file)];
  return links;
}

Result<void> check_folders(const RepositoryFolder& folder) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(folder.path(), error)))
    return fail(Error::not_found, "{}: there is no such folder", folder.path().string());
  for (const fs::path& path :
       {folder.path(), folder.blobs(), folder.snapshots(), folder.path() / "refs"})
    if (fs::exists(fs::symlink_status(path, error)) && !is_real_folder(path))
      return fail(Error::invalid, "{}: a folder was expected, a link or file is there",
                  path.string());
  return {};
}

Result<void> check_idle(const fs::path& store, const HubName& name) {
  for (const fs::path& path : entries(store / ".locks" / folder_name(name))) {
    FileLock lock;
    MUMMU_TRY(const bool free, lock.try_take(path));
    if (!free) return fail(Error::busy, "{}: a download of it is running", to_string(name));
  }
  return {};
}

int64_t size_of(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  return error ? 0 : static_cast<int64_t>(size);
}

int64_t content_bytes(const RepositoryFolder& folder) {
  int64_t sum = 0;
  for (const fs::path& blob : entries(folder.blobs()))
    if (!is_part(blob) && !fs::is_symlink(blob)) sum += size_of(blob);
  return sum;
}

int64_t part_bytes(const RepositoryFolder& folder) {
  int64_t sum = 0;
  for (const fs::path& blob : entries(folder.blobs()))
    if (is_part(blob)) sum += allocated(blob);
  return sum;
}

Result<int64_t> remove_files(const RepositoryFolder& folder, const std::string& commit,
                             const std::vector<std::string>& files) {
  std::vector<fs::path> contents;
  std::error_code error;
  for (const std::string& file : files) {
    const fs::path content = content_of(folder, commit, file),
                   name = folder.snapshot(commit) / file;
    if (content.empty() || !fs::remove(name, error)) continue;
    contents.push_back(content);
    remove_empty(name.parent_path(), folder.snapshots());
  }
  int64_t freed = 0;
  const auto used = links_to_content(folder);
  for (const fs::path& content : contents) {
    const int64_t bytes = size_of(content);
    if (!used.contains(content) && fs::remove(content, error)) freed += bytes;
  }
  if (error)
    return fail(Error::io, "{}: cannot remove: {}", folder.path().string(), error.message());
  remove_stale_refs(folder);
  return freed;
}

}  // namespace mummu::hub
