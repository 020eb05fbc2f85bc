#include "hub/catalog.h"

#include <nlohmann/json.hpp>

#include "hub/text.h"

namespace mummu::hub {
namespace {

std::vector<CatalogEntry> read_catalog() {
  std::vector<CatalogEntry> entries;
  for (const auto& json : nlohmann::json::parse(catalog_text()))
    entries.push_back({.name = json.at("name"),
                       .repository = json.at("repository"),
                       .revision = json.value("revision", "main"),
                       .file = json.value("file", ""),
                       .sha256 = json.value("sha256", ""),
                       .gguf = json.value("gguf", "")});
  return entries;
}

}  // namespace

const std::vector<CatalogEntry>& catalog() {
  static const std::vector<CatalogEntry> entries = read_catalog();
  return entries;
}

const CatalogEntry* find_in_catalog(std::string_view name) {
  const std::string wanted = lower(name);
  for (const CatalogEntry& entry : catalog())
    if (entry.name == wanted) return &entry;
  return nullptr;
}

}  // namespace mummu::hub
