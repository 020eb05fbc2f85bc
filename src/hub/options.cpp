#include <cstdlib>
#include <filesystem>

#include "hub/text.h"
#include "mummu/hub.h"

namespace mummu {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

fs::path store_folder() {
  for (const char* name : {"MUMMU_HOME", "HF_HUB_CACHE"})
    if (auto set = environment(name); !set.empty()) return set;
  if (auto set = environment("HF_HOME"); !set.empty()) return fs::path(set) / "hub";
  if (auto set = environment("XDG_CACHE_HOME"); !set.empty())
    return fs::path(set) / "huggingface/hub";
  return fs::path(environment("HOME")) / ".cache/huggingface/hub";
}

bool is_true(const std::string& value) {
  const std::string word = hub::lower(value);
  return word == "1" || word == "true" || word == "yes" || word == "on";
}

}  // namespace

HubOptions hub_options() {
  HubOptions options;
  if (auto set = environment("HF_ENDPOINT"); !set.empty()) options.endpoint = set;
  while (options.endpoint.ends_with('/')) options.endpoint.pop_back();
  options.token = environment("HF_TOKEN");
  options.store = store_folder().string();
  options.ca_file = environment("CURL_CA_BUNDLE");
  if (options.ca_file.empty()) options.ca_file = environment("SSL_CERT_FILE");
  options.offline = is_true(environment("HF_HUB_OFFLINE"));
  return options;
}

}  // namespace mummu
