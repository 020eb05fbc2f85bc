#include "file/safetensors.h"

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "file/quote.h"
#include "file/safetensors_header.h"
#include "file/safetensors_index.h"

namespace mummu {
namespace {

namespace fs = std::filesystem;

using ShardOf = std::map<std::string, std::string>;

// Every tensor of the index is in the shard that the index says. (Tensors that it does not list are
// kept: transformers loads them too.)
Result<void> check_index(const ShardOf& shard_of, const TensorTable& table,
                         const std::string& path) {
  for (const auto& [name, shard] : shard_of) {
    const TensorInfo* tensor = table.find(name);
    if (tensor == nullptr || fs::path(table.path(*tensor)).filename() != shard) {
      return fail(Error::corrupt, "{}: tensor {} is not in {}, where the index says it is", path,
                  quote(name), quote(shard));
    }
  }
  return {};
}

// What to open for a path: a folder means one of two files in it, in transformers' order.
Result<std::string> find_file(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return path;
  for (const char* name : {"model.safetensors", "model.safetensors.index.json"}) {
    if (fs::exists(fs::path(path) / name, ignored)) return (fs::path(path) / name).string();
  }
  return fail(Error::not_found,
              "{}: the folder has neither model.safetensors nor model.safetensors.index.json",
              path);
}

}  // namespace

Result<Safetensors> Safetensors::open(FileReader file) {
  SafetensorsBudget budget;
  Safetensors out;
  MUMMU_TRY(auto header, read_safetensors_header(file, budget));
  out.metadata_ = std::move(header.metadata);
  MUMMU_TRY(out.table_, TensorTable::make(std::move(file), std::move(header.tensors)));
  return out;
}

Result<Safetensors> Safetensors::open_index(const std::string& path) {
  MUMMU_TRY(const ShardOf shard_of, read_safetensors_index(path));
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : shard_of) shards.insert(shard);
  if (shards.empty() || static_cast<int64_t>(shards.size()) > kMaxFiles) {
    return fail(Error::corrupt, "{}: names {} files, 1 to {} are allowed", path, shards.size(),
                kMaxFiles);
  }
  SafetensorsBudget budget;
  Safetensors out;
  std::vector<TensorTable> parts;
  for (const std::string& shard : shards) {
    MUMMU_TRY(auto file, FileReader::open((fs::path(path).parent_path() / shard).string()));
    MUMMU_TRY(auto header, read_safetensors_header(file, budget));
    if (parts.empty()) out.metadata_ = std::move(header.metadata);
    MUMMU_TRY(auto part, TensorTable::make(std::move(file), std::move(header.tensors)));
    parts.push_back(std::move(part));
  }
  MUMMU_TRY(out.table_, TensorTable::join(std::move(parts)));
  MUMMU_TRY(check_index(shard_of, out.table_, path));
  return out;
}

Result<Safetensors> Safetensors::open(const std::string& path) {
  MUMMU_TRY(const std::string found, find_file(path));
  if (found.ends_with(".json")) return open_index(found);
  MUMMU_TRY(auto file, FileReader::open(found));
  return open(std::move(file));
}

}  // namespace mummu
