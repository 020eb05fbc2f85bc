#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/fail.h"
#include "file/json.h"
#include "file/quote.h"

namespace mummu {
namespace {

using nlohmann::json;

std::optional<int64_t> int_value(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && !std::in_range<int64_t>(value.get<uint64_t>())) {
    return std::nullopt;
  }
  return value.get<int64_t>();
}

std::optional<double> double_value(const json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::optional<bool> bool_value(const json& value) {
  return value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt;
}

std::optional<std::string> string_value(const json& value) {
  return value.is_string() ? std::optional(value.get_ref<const std::string&>()) : std::nullopt;
}

template <typename T, std::optional<T> (*Element)(const json&)>
std::optional<std::vector<T>> array_value(const json& value) {
  if (!value.is_array()) return std::nullopt;
  std::vector<T> out;
  for (const json& element : value) {
    auto converted = Element(element);
    if (!converted) return std::nullopt;
    out.push_back(*std::move(converted));
  }
  return out;
}

Error wrong_type(const JsonObject& object, std::string_view key, const json& value,
                 const char* expected) {
  return fail(Error::corrupt, "{}: {}: expected {}, found {}{}", object.where(), quote(key),
              expected, value.type_name(), value.is_number() ? " " + value.dump() : "");
}

Error missing(const JsonObject& object, std::string_view key) {
  return fail(Error::corrupt, "{}: {} is missing", object.where(), quote(key));
}

template <typename T>
Result<std::optional<T>> find_as(const JsonObject& object, std::string_view key,
                                 const char* expected, std::optional<T> (*convert)(const json&)) {
  const json* value = object.find(key);
  if (value == nullptr) return std::optional<T>();
  auto found = convert(*value);
  if (!found) return wrong_type(object, key, *value, expected);
  return found;
}

template <typename T>
Result<T> needed(const JsonObject& object, std::string_view key, Result<std::optional<T>> found) {
  if (!found) return std::move(found).error();
  if (!*found) return missing(object, key);
  return **std::move(found);
}

}  // namespace

Result<JsonObject> JsonObject::of(const nlohmann::json& json, std::string where) {
  if (json.is_object()) return JsonObject(json, std::move(where));
  return fail(Error::corrupt, "{}: expected an object, found {}", where, json.type_name());
}

const json* JsonObject::find(std::string_view key) const {
  const auto found = json_->find(key);
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

Result<std::optional<int64_t>> JsonObject::find_int(std::string_view key) const {
  return find_as(*this, key, "an integer below 2^63", int_value);
}
Result<std::optional<double>> JsonObject::find_double(std::string_view key) const {
  return find_as(*this, key, "a number", double_value);
}
Result<std::optional<bool>> JsonObject::find_bool(std::string_view key) const {
  return find_as(*this, key, "true or false", bool_value);
}
Result<std::optional<std::string>> JsonObject::find_string(std::string_view key) const {
  return find_as(*this, key, "a string", string_value);
}
Result<std::optional<std::vector<int64_t>>> JsonObject::find_ints(std::string_view key) const {
  return find_as(*this, key, "an array of integers", array_value<int64_t, int_value>);
}
Result<std::optional<std::vector<std::string>>> JsonObject::find_strings(
    std::string_view key) const {
  return find_as(*this, key, "an array of strings", array_value<std::string, string_value>);
}
Result<std::optional<JsonObject>> JsonObject::find_object(std::string_view key) const {
  const auto* value = find(key);
  if (value == nullptr) return std::optional<JsonObject>();
  MUMMU_TRY(auto object, of(*value, fmt::format("{}: {}", where_, quote(key))));
  return std::optional(std::move(object));
}

Result<int64_t> JsonObject::get_int(std::string_view key) const {
  return needed(*this, key, find_int(key));
}
Result<double> JsonObject::get_double(std::string_view key) const {
  return needed(*this, key, find_double(key));
}
Result<bool> JsonObject::get_bool(std::string_view key) const {
  return needed(*this, key, find_bool(key));
}
Result<std::string> JsonObject::get_string(std::string_view key) const {
  return needed(*this, key, find_string(key));
}
Result<std::vector<int64_t>> JsonObject::get_ints(std::string_view key) const {
  return needed(*this, key, find_ints(key));
}
Result<std::vector<std::string>> JsonObject::get_strings(std::string_view key) const {
  return needed(*this, key, find_strings(key));
}
Result<JsonObject> JsonObject::get_object(std::string_view key) const {
  return needed(*this, key, find_object(key));
}

}  // namespace mummu
