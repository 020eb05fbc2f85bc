#include "file/safetensors_index.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/fail.h"
#include "file/json.h"
#include "file/quote.h"
#include "file/tensor_table.h"

namespace mummu {
namespace {

bool is_plain_file_name(std::string_view name) {
  using namespace std::string_view_literals;
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of("/\\\0"sv) == std::string_view::npos;
}

}  // namespace

Result<std::map<std::string, std::string>> read_safetensors_index(const std::string& path) {
  MUMMU_TRY(const auto json, read_json(path));
  MUMMU_TRY(const auto index, JsonObject::of(json, path));
  MUMMU_TRY(const auto map, index.get_object("weight_map"));
  if (map.json().size() > static_cast<size_t>(kMaxTensors)) {
    return fail(Error::corrupt, "{}: lists {} tensors, at most {} are allowed", path,
                map.json().size(), kMaxTensors);
  }
  std::map<std::string, std::string> shard_of;
  for (const auto& [tensor, shard] : map.json().items()) {
    if (!shard.is_string()) {
      return fail(Error::corrupt, "{}: tensor {} is not given the name of a file", path,
                  quote(tensor));
    }
    const auto& name = shard.get_ref<const std::string&>();
    if (!is_plain_file_name(name)) {
      return fail(Error::corrupt,
                  "{}: tensor {} is in {}, which is not the name of a file in that folder", path,
                  quote(tensor), quote(name));
    }
    shard_of.emplace(tensor, name);
  }
  return shard_of;
}

}  // namespace mummu
