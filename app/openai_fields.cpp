#include "openai_fields.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace mummu::app {

std::string shown(const nlohmann::json& value) {
  constexpr size_t kMost = 60;
  std::string text = value.dump(-1, ' ', true);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

Fields::Fields(const nlohmann::json& object, std::string path, std::optional<Refusal>& refusal)
    : object_(object), path_(std::move(path)), refusal_(refusal) {}

void Fields::refuse(std::string_view name, std::string_view what) {
  if (refusal_) return;
  std::string param = fmt::format("{}{}", path_, name);
  std::string message = fmt::format("{}: {}", param, what);
  refusal_ = Refusal{400, std::move(message), std::move(param), "invalid_value"};
}

const nlohmann::json* Fields::find(const char* name) {
  known_.insert(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

bool Fields::read(const char* name, bool& out) {
  const auto* value = find(name);
  if (!value) return false;
  if (!value->is_boolean())
    refuse(name, fmt::format("true or false expected, got {}", shown(*value)));
  if (value->is_boolean()) out = value->get<bool>();
  return value->is_boolean();
}

bool Fields::read(const char* name, float& out) {
  const auto* value = find(name);
  if (!value) return false;
  if (!value->is_number()) refuse(name, fmt::format("a number expected, got {}", shown(*value)));
  if (value->is_number()) out = value->get<float>();
  return value->is_number();
}

bool Fields::read(const char* name, int64_t& out) {
  const auto* value = find(name);
  if (!value) return false;
  const bool fits =
      value->is_number_integer() &&
      (!value->is_number_unsigned() || value->get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX));
  if (!fits) refuse(name, fmt::format("a whole number expected, got {}", shown(*value)));
  if (fits) out = value->get<int64_t>();
  return fits;
}

bool Fields::read(const char* name, std::string& out) {
  const auto* value = find(name);
  if (!value) return false;
  if (!value->is_string()) refuse(name, fmt::format("a text expected, got {}", shown(*value)));
  if (value->is_string()) out = value->get<std::string>();
  return value->is_string();
}

void Fields::only_false(const char* name, const char* why) {
  bool value = false;
  if (read(name, value) && value) refuse(name, fmt::format("false expected: {}", why));
}

void Fields::refuse_others() {
  for (const auto& [name, value] : object_.items())
    if (!known_.contains(name) && !value.is_null()) refuse(name, "this field is not supported");
}

}  // namespace mummu::app
