#pragma once

// What a person writes to say which model: a catalog name, owner/name[@revision][:file], or a URL.

#include <string>
#include <string_view>

#include "mummu/result.h"

namespace mummu::hub {

struct HubName {
  std::string repository{};  // "owner/name"; empty: a URL
  std::string revision = "main";
  std::string file{};    // a file, a quantisation, or empty: the model
  std::string sha256{};  // that the catalog expects of the file; may be empty
  std::string url{};
};

// Knows nothing of local paths and asks nobody.
//   errors   invalid (what is wrong with it; one word that the catalog does not have)
Result<HubName> parse_name(std::string_view text);

// The name as it can be written again.
std::string to_string(const HubName& name);

}  // namespace mummu::hub
