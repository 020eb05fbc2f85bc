#include "mummu/model_store.h"

#include "base/edge.h"
#include "base/fail.h"
#include "file/reader.h"
#include "hub/hash.h"
#include "hub/installed.h"
#include "hub/store_folder.h"
#include "hub/text.h"

namespace mummu {
namespace {

namespace fs = std::filesystem;
using hub::HubName;
using hub::Installed;
using hub::RepositoryFolder;

constexpr size_t kSlice = 1 << 20;

std::string hash_of(const fs::path& content) {
  const std::string name = content.filename().string();
  return hub::is_hex(name, 64) || hub::is_hex(name, 40) ? name : "";
}

StoredModel stored(const RepositoryFolder& folder, const Installed& found, std::string name) {
  StoredModel model{
      .name = std::move(name), .revision = found.commit, .path = found.path, .bytes = found.bytes};
  const auto links = hub::links_to_content(folder);
  for (const std::string& file : found.files) {
    const fs::path content = hub::content_of(folder, found.commit, file);
    const auto shared = links.find(content);
    model.files.push_back({.path = file,
                           .hash = hash_of(content),
                           .bytes = hub::size_of(content),
                           .links = shared == links.end() ? 1 : shared->second});
  }
  return model;
}

Error not_here(const std::string& name, const std::string& store) {
  return fail(Error::not_found, "{} is not in the store ({})", name, store);
}

// What is wrong with a file of the store: its hash is not its name.
struct Damage {
  std::vector<std::string> files{};
  Verified sound{};
};

Result<bool> has_hash(const fs::path& content, const std::string& hash, int64_t& done,
                      int64_t total, const OnVerify& on_progress) {
  MUMMU_TRY(const FileReader reader, FileReader::open(content.string()));
  hub::Hash computed(hub::Hash::kind_of(hash), reader.size());
  std::vector<std::byte> slice(kSlice);
  for (int64_t at = 0; at < reader.size();) {
    const auto n = std::min<int64_t>(kSlice, reader.size() - at);
    const auto part = std::span(slice).first(static_cast<size_t>(n));
    MUMMU_TRY(reader.read(at, part));
    computed.add(part);
    at += n;
    done += n;
    if (on_progress && !on_progress(done, total))
      return fail(Error::cancelled, "the verification was cancelled");
  }
  return computed.hex() == hash;
}

Result<Damage> examine(const RepositoryFolder& folder, const Installed& model,
                       const OnVerify& on_progress) {
  Damage damage;
  int64_t done = 0;
  for (const std::string& file : model.files) {
    const fs::path content = hub::content_of(folder, model.commit, file);
    const std::string hash = hash_of(content);
    if (hash.empty()) {
      ++damage.sound.plain;
      continue;
    }
    MUMMU_TRY(const bool right, has_hash(content, hash, done, model.bytes, on_progress));
    if (!right) {
      damage.files.push_back(file);
      continue;
    }
    ++damage.sound.files;
    damage.sound.bytes += hub::size_of(content);
  }
  return damage;
}

// Content that is wrong goes, whoever else names it: it is no file of the hub.
void discard(const RepositoryFolder& folder, const std::string& commit,
             const std::vector<std::string>& files) {
  std::error_code ignored;
  for (const std::string& file : files)
    if (const fs::path content = hub::content_of(folder, commit, file); !content.empty())
      fs::remove(content, ignored);
}

std::string joined(const std::vector<std::string>& files) {
  std::string out;
  for (const std::string& file : files) out += (out.empty() ? "" : ", ") + file;
  return out;
}

// Hashes; what is wrong is removed and fetched once more.
Result<Verified> verify_or_heal(const HubOptions& options, const std::string& text,
                                const OnVerify& on_progress) {
  MUMMU_TRY(HubName name, hub::parse_name(text));
  const RepositoryFolder folder(options.store, name);
  auto found = hub::find_installed(options.store, name);
  if (!found) return not_here(text, options.store);
  MUMMU_TRY(const Damage damage, examine(folder, *found, on_progress));
  if (damage.files.empty()) return damage.sound;
  discard(folder, found->commit, damage.files);
  const std::string wrong = joined(damage.files);
  if (options.offline)
    return fail(Error::corrupt, "{}: {}: the bytes were not those of the hub and were removed",
                text, wrong);
  if (name.url.empty()) name.revision = found->commit;
  MUMMU_TRY(download(to_string(name), options));
  found = hub::find_installed(options.store, name);
  if (!found) return not_here(text, options.store);
  MUMMU_TRY(Damage again, examine(folder, *found, on_progress));
  if (!again.files.empty())
    return fail(Error::corrupt, "{}: {}: the bytes are wrong again", text, joined(again.files));
  again.sound.healed = damage.files;
  return again.sound;
}

}  // namespace

ModelStore::ModelStore(HubOptions options) : options_(std::move(options)) {}

std::vector<StoredModel> ModelStore::list() const {
  std::vector<StoredModel> models;
  for (HubName name : hub::repositories(options_.store)) {
    const RepositoryFolder folder(options_.store, name);
    const auto main = folder.commit("main");
    for (const std::string& commit : hub::commits(folder))
      for (const Installed& found : hub::models_of_snapshot(folder, commit)) {
        name.revision = commit == main ? "main" : commit;
        name.file = found.main;
        models.push_back(stored(folder, found, to_string(name)));
      }
  }
  return models;
}

Result<StoredModel> ModelStore::find(const std::string& text) const {
  MUMMU_TRY(const HubName name, hub::parse_name(text));
  const auto found = hub::find_installed(options_.store, name);
  if (!found) return not_here(text, options_.store);
  return stored(RepositoryFolder(options_.store, name), *found, to_string(name));
}

std::vector<StoreUse> ModelStore::use() const {
  std::vector<StoreUse> uses;
  for (const HubName& name : hub::repositories(options_.store)) {
    const RepositoryFolder folder(options_.store, name);
    uses.push_back({.name = to_string(name),
                    .bytes = hub::content_bytes(folder),
                    .part_bytes = hub::part_bytes(folder)});
  }
  return uses;
}

Result<int64_t> ModelStore::remove(const std::string& text) {
  MUMMU_TRY(const HubName name, hub::parse_name(text));
  const RepositoryFolder folder(options_.store, name);
  if (auto checked = hub::check_folders(folder); !checked) {
    if (checked.error().code == Error::not_found) return not_here(text, options_.store);
    return std::move(checked).error();
  }
  MUMMU_TRY(hub::check_idle(options_.store, name));
  const bool whole = name.url.empty() ? name.file.empty() && name.revision == "main" : true;
  if (whole) {
    const int64_t freed = hub::content_bytes(folder) + hub::part_bytes(folder);
    std::error_code error;
    fs::remove_all(folder.path(), error);  // removes links, never what they lead to
    if (error)
      return fail(Error::io, "{}: cannot remove: {}", folder.path().string(), error.message());
    return freed;
  }
  const auto found = hub::find_installed(options_.store, name);
  if (!found) return not_here(text, options_.store);
  return hub::remove_files(folder, found->commit, found->files);
}

Result<Verified> ModelStore::verify(const std::string& text, const OnVerify& on_progress) {
  return at_edge([&] { return verify_or_heal(options_, text, on_progress); });
}

}  // namespace mummu
