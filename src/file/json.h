#pragma once

// JSON documents of strangers: read with limits on size, depth and memory, without duplicate keys,
// in valid UTF-8; and typed access with messages that name the file and the key. Whoever uses the
// values includes <nlohmann/json.hpp> in its .cpp.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mummu/result.h"

namespace mummu {

struct JsonLimits {
  int64_t size_bytes = 64 << 20;     // of the text; the largest known tokenizer.json has 34 MB
  int64_t memory_bytes = 512 << 20;  // of the parsed values, estimated
  int depth = 64;                    // of arrays and objects inside each other
};

// Reads a JSON file. NaN and Infinity, which Python may write, are not JSON and are refused.
//   errors   not_found, invalid (no regular file), io, corrupt (path, byte, what is wrong)
Result<nlohmann::json> read_json(const std::string& path, const JsonLimits& limits = {});

// The same from memory; `where` takes the place of the path in messages.
Result<nlohmann::json> parse_json(std::string_view text, std::string_view where,
                                  const JsonLimits& limits = {});

// Typed access to one JSON object, which must outlive it. get_x needs the key, find_x gives an
// empty optional where it is absent or null. Another type, or a value that does not fit, is
// corrupt: "PATH: hidden_size: expected an integer, got a string".
class JsonObject {
 public:
  //   errors   corrupt (json is not an object)
  static Result<JsonObject> of(const nlohmann::json& json, std::string where);

  bool has(std::string_view key) const { return find(key) != nullptr; }
  const nlohmann::json* find(std::string_view key) const;  // nullptr: absent or null
  const nlohmann::json& json() const { return *json_; }
  const std::string& where() const { return where_; }

  Result<int64_t> get_int(
      std::string_view key) const;  // an integer that fits in int64; 1.0 is not one
  Result<double> get_double(std::string_view key) const;  // any number; always finite
  Result<bool> get_bool(std::string_view key) const;
  Result<std::string> get_string(std::string_view key) const;
  Result<std::vector<int64_t>> get_ints(std::string_view key) const;
  Result<std::vector<std::string>> get_strings(std::string_view key) const;
  Result<JsonObject> get_object(std::string_view key) const;  // where() then ends in the key

  Result<std::optional<int64_t>> find_int(std::string_view key) const;
  Result<std::optional<double>> find_double(std::string_view key) const;
  Result<std::optional<bool>> find_bool(std::string_view key) const;
  Result<std::optional<std::string>> find_string(std::string_view key) const;
  Result<std::optional<std::vector<int64_t>>> find_ints(std::string_view key) const;
  Result<std::optional<std::vector<std::string>>> find_strings(std::string_view key) const;
  Result<std::optional<JsonObject>> find_object(std::string_view key) const;

 private:
  JsonObject(const nlohmann::json& json, std::string where)
      : json_(&json), where_(std::move(where)) {}

  const nlohmann::json* json_;
  std::string where_;
};

}  // namespace mummu
