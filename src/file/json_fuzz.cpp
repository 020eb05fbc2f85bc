// Any bytes as JSON: they parse or they are refused, and what parses can be written and parsed
// again.

#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "file/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto json = mummu::parse_json(text, "fuzz");
  if (!json) {
    if (json.error().message.find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const auto again = mummu::parse_json(json->dump(), "again");
  if (!again || *again != *json) std::abort();
  const auto object = mummu::JsonObject::of(*json, "fuzz");
  if (!object) return 0;
  for (const auto& [key, value] : json->items()) {
    const bool typed = object->find_int(key) || object->find_double(key) ||
                       object->find_bool(key) || object->find_string(key) ||
                       object->find_ints(key) || object->find_strings(key) ||
                       object->find_object(key);
    if (!typed && !value.is_array() && !value.is_number()) std::abort();
  }
  return 0;
}
