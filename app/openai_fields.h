#pragma once

// Reads the fields of a JSON object one by one and remembers which: the first that is wrong, or
// that nobody has asked for, is refused by name. A field that is null counts as absent.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "openai_error.h"

namespace mummu::app {

class Fields {
 public:
  // `path` goes before the names in messages: "messages[0]."; both must outlive it.
  Fields(const nlohmann::json& object, std::string path, std::optional<Refusal>& refusal);

  // The value, or null where it is absent or null.
  const nlohmann::json* find(const char* name);

  // Each leaves `out` alone where the field is absent or wrong, and returns whether it was set.
  bool read(const char* name, bool& out);
  bool read(const char* name, float& out);
  bool read(const char* name, int64_t& out);
  bool read(const char* name, std::string& out);

  // Only where the field is absent, or one of the values that change nothing.
  void only_false(const char* name, const char* why);
  void refuse(std::string_view name, std::string_view what);
  // Refuses every field that was not asked for.
  void refuse_others();
  bool good() const { return !refusal_; }

 private:
  const nlohmann::json& object_;
  std::string path_;
  std::optional<Refusal>& refusal_;
  std::set<std::string, std::less<>> known_;
};

// A value in a message: as JSON, cut where it is long.
std::string shown(const nlohmann::json& value);

}  // namespace mummu::app
