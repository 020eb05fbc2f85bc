#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace mummu::tokenizer_json {

Result<std::unique_ptr<const Pattern>> read_pattern(const JsonObject& owner) {
  MUMMU_TRY(const auto pattern, owner.get_object("pattern"));
  MUMMU_TRY(auto literal, pattern.find_string("String"));
  if (literal) return literal_pattern(std::move(*literal));
  MUMMU_TRY(const auto expression, pattern.get_string("Regex"));
  if (auto known = known_pattern(expression)) return known;
  auto compiled = regex_pattern(expression);
  if (!compiled)
    return fail(compiled.error().code, "{}: {}", pattern.where(), compiled.error().message);
  return compiled;
}

Result<std::vector<JsonObject>> objects(const JsonObject& owner, std::string_view key) {
  const nlohmann::json* array = owner.find(key);
  if (array == nullptr || !array->is_array())
    return fail(Error::corrupt, "{}: {}: expected an array", owner.where(), key);
  std::vector<JsonObject> out;
  for (size_t i = 0; i < array->size(); ++i) {
    MUMMU_TRY(auto object,
              JsonObject::of((*array)[i], fmt::format("{}: {}[{}]", owner.where(), key, i)));
    out.push_back(std::move(object));
  }
  return out;
}

Error unknown_type(const JsonObject& object, std::string_view type) {
  return fail(Error::unsupported, "{}: type {} is not supported", object.where(), type);
}

Result<std::string> read_character(const JsonObject& object, std::string_view key) {
  MUMMU_TRY(auto text, object.get_string(key));
  if (code_points(text) != 1)
    return fail(Error::corrupt, "{}: {}: expected one character, got \"{}\"", object.where(), key,
                text);
  return text;
}

}  // namespace mummu::tokenizer_json
