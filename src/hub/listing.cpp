#include "hub/listing.h"

#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "file/json.h"
#include "file/quote.h"
#include "hub/text.h"

namespace mummu::hub {
namespace {

constexpr size_t kMaxFiles = 100'000;

Result<std::string> etag_of(const JsonObject& file) {
  MUMMU_TRY(const auto lfs, file.find_object("lfs"));
  if (lfs) {
    MUMMU_TRY(std::string sha256, lfs->get_string("sha256"));
    if (!is_hex(sha256, 64))
      return fail(Error::corrupt, "{}: {} is no sha256", lfs->where(), quote(sha256));
    return sha256;
  }
  MUMMU_TRY(std::string id, file.get_string("blobId"));
  if (!is_hex(id, 40)) return fail(Error::corrupt, "{}: {} is no blob id", file.where(), quote(id));
  return id;
}

Result<RemoteFile> parse_file(const nlohmann::json& json, std::string_view where) {
  MUMMU_TRY(const JsonObject file, JsonObject::of(json, std::string(where)));
  RemoteFile out;
  MUMMU_TRY(out.path, file.get_string("rfilename"));
  if (!is_safe_file(out.path))
    return fail(Error::corrupt, "{}: the file name {} is refused", where, quote(out.path));
  MUMMU_TRY(out.size, file.get_int("size"));
  if (out.size < 0) return fail(Error::corrupt, "{}: {}: size {}", where, out.path, out.size);
  MUMMU_TRY(out.etag, etag_of(file));
  return out;
}

}  // namespace

Result<Listing> parse_listing(std::string_view text, std::string_view where) {
  MUMMU_TRY(const nlohmann::json json, parse_json(text, where, {.size_bytes = kMaxListingBytes}));
  MUMMU_TRY(const JsonObject answer, JsonObject::of(json, std::string(where)));
  Listing listing;
  MUMMU_TRY(listing.commit, answer.get_string("sha"));
  if (!is_hex(listing.commit, 40))
    return fail(Error::corrupt, "{}: {} is no commit", where, quote(listing.commit));
  const nlohmann::json* files = answer.find("siblings");
  if (!files || !files->is_array() || files->size() > kMaxFiles)
    return fail(Error::corrupt, "{}: siblings: expected an array of at most {} files", where,
                kMaxFiles);
  for (const nlohmann::json& file : *files) {
    MUMMU_TRY(RemoteFile remote, parse_file(file, where));
    listing.files.push_back(std::move(remote));
  }
  return listing;
}

}  // namespace mummu::hub
