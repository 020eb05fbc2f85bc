#pragma once

// Short names for the models that this project knows (catalog.json, compiled in).

#include <string>
#include <string_view>
#include <vector>

namespace mummu::hub {

struct CatalogEntry {
  std::string name{};
  std::string repository{};
  std::string revision = "main";
  std::string file{};    // empty: the whole model
  std::string sha256{};  // of that file, where a real file was seen; else empty
  std::string gguf{};    // the repository of its quantisations; may be empty
};

std::string_view catalog_text();  // the JSON

const std::vector<CatalogEntry>& catalog();

const CatalogEntry* find_in_catalog(std::string_view name);  // null: unknown; case does not matter

}  // namespace mummu::hub
