#include "hub/name.h"

#include "base/fail.h"
#include "file/quote.h"
#include "hub/catalog.h"
#include "hub/text.h"

namespace mummu::hub {
namespace {

constexpr size_t kMaxName = 2048;

std::string known_names() {
  std::string names;
  for (const CatalogEntry& entry : catalog()) names += (names.empty() ? "" : ", ") + entry.name;
  return names;
}

Result<HubName> from_catalog(std::string_view word, std::string_view quant) {
  const CatalogEntry* entry = find_in_catalog(word);
  if (!entry)
    return fail(Error::invalid, "{}: expected a known name ({}) or owner/name", quote(word),
                known_names());
  if (quant.empty())
    return HubName{.repository = entry->repository,
                   .revision = entry->revision,
                   .file = entry->file,
                   .sha256 = entry->sha256};
  if (entry->gguf.empty())
    return fail(Error::invalid, "{}: the catalog has no quantisations of it", entry->name);
  return HubName{.repository = entry->gguf, .file = std::string(quant)};
}

Result<HubName> from_url(std::string_view text) {
  const size_t end = text.find_first_of("?#");
  const std::string_view path = text.substr(0, end);
  const std::string_view file = path.substr(path.rfind('/') + 1);
  const size_t host = std::string_view("https://").size();
  const bool odd = text.find_first_of(" \t\r\n\\") != text.npos || text.find('@') != text.npos;
  if (odd || path.find('/', host) == text.npos || path.find('/', host) == host ||
      !is_safe_file(file))
    return fail(Error::invalid, "{}: expected https://host/path/file", quote(text));
  return HubName{.file = std::string(file), .url = std::string(text.substr(0, text.find('#')))};
}

}  // namespace

Result<HubName> parse_name(std::string_view text) {
  if (text.empty() || text.size() > kMaxName || text.find('\0') != text.npos)
    return fail(Error::invalid, "{} is no name of a model", quote(text));
  if (text.starts_with("https://")) return from_url(text);
  if (text.find("://") != text.npos)
    return fail(Error::invalid, "{}: a model comes over https only", quote(text));
  const size_t colon = text.find(':');
  const std::string_view file = colon == text.npos ? "" : text.substr(colon + 1);
  const std::string_view head = text.substr(0, colon);
  if (colon != text.npos && !is_safe_file(file))
    return fail(Error::invalid, "{}: {} is no file or quantisation", quote(text), quote(file));
  if (head.find('/') == head.npos) return from_catalog(head, file);
  const size_t at = head.find('@');
  HubName name{.repository = std::string(head.substr(0, at)), .file = std::string(file)};
  if (at != head.npos) name.revision = head.substr(at + 1);
  if (!is_repository(name.repository) || !is_revision(name.revision))
    return fail(Error::invalid, "{}: expected owner/name[@revision][:file or quantisation]",
                quote(text));
  return name;
}

std::string to_string(const HubName& name) {
  if (!name.url.empty()) return name.url;
  std::string out = name.repository;
  if (name.revision != "main") out += "@" + name.revision;
  if (!name.file.empty()) out += ":" + name.file;
  return out;
}

}  // namespace mummu::hub
