// Any bytes as a model's name and as the hub's answer: what is accepted can be written again and
// stays inside the store.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "hub/choose.h"
#include "hub/folder.h"
#include "hub/listing.h"
#include "hub/name.h"
#include "hub/text.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void read_name(std::string_view text) {
  const auto name = mummu::hub::parse_name(text);
  if (!name) return require(name.error().message.find('\n') == std::string::npos);
  const auto again = mummu::hub::parse_name(to_string(*name));
  require(again && to_string(*again) == to_string(*name));
  require(mummu::hub::is_safe_file(mummu::hub::folder_name(*name)));
  require(name->file.empty() || mummu::hub::is_safe_file(name->file));
}

void read_listing(std::string_view text) {
  const auto listing = mummu::hub::parse_listing(text, "fuzz");
  if (!listing) return require(listing.error().message.find('\n') == std::string::npos);
  std::vector<std::string> names;
  for (const auto& file : listing->files) {
    require(mummu::hub::is_safe_file(file.path) && file.size >= 0);
    names.push_back(file.path);
  }
  const auto choice = mummu::hub::choose_files(names, "", "fuzz");
  require(!choice || !choice->files.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_name(text);
  read_listing(text);
  return 0;
}
