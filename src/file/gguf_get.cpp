// The typed access to a GGUF file's metadata.

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/fail.h"
#include "file/gguf.h"
#include "file/gguf_impl.h"
#include "file/quote.h"

namespace mummu {
namespace {

using Strings = std::optional<StringArray>;
using Ints = std::optional<std::vector<int32_t>>;
using Floats = std::optional<std::vector<float>>;

std::optional<bool> bool_value(const GgufValue& value) {
  if (value.is_array || value.type != GgufType::boolean) return std::nullopt;
  return value.bytes[0] != 0;
}

std::optional<std::string_view> string_value(const GgufValue& value) {
  if (value.is_array || value.type != GgufType::string) return std::nullopt;
  return value.bytes;
}

std::optional<double> number_value(const GgufValue& value) {
  if (value.is_array) return std::nullopt;
  if (const auto number = float_element(value, 0)) return number;
  const auto whole = integer_element(value, 0);
  return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

Strings strings_value(const GgufValue& value) {
  if (!value.is_array || value.type != GgufType::string) return std::nullopt;
  return StringArray(value.bytes.data(), value.ends);
}

Ints ints_value(const GgufValue& value) {
  if (!value.is_array || value.type == GgufType::array) return std::nullopt;
  std::vector<int32_t> out(static_cast<size_t>(value.count));
  for (int64_t i = 0; i < value.count; ++i) {
    const auto whole = value.type == GgufType::boolean
                           ? std::optional<int64_t>(value.bytes[static_cast<size_t>(i)])
                           : integer_element(value, i);
    if (!whole || !std::in_range<int32_t>(*whole)) return std::nullopt;
    out[static_cast<size_t>(i)] = static_cast<int32_t>(*whole);
  }
  return out;
}

Floats floats_value(const GgufValue& value) {
  const bool floats = value.type == GgufType::float32 || value.type == GgufType::float64;
  if (!value.is_array || !floats) return std::nullopt;
  std::vector<float> out(static_cast<size_t>(value.count));
  for (int64_t i = 0; i < value.count; ++i) {
    out[static_cast<size_t>(i)] = static_cast<float>(*float_element(value, i));
  }
  return out;
}

Error wrong_type(const Gguf::Impl& impl, std::string_view key, const GgufValue& value,
                 const char* expected) {
  return fail(Error::corrupt, "{}: metadata key {} is {}, expected {}", impl.path, quote(key),
              type_name(value), expected);
}

Error missing(const Gguf::Impl& impl, std::string_view key) {
  return fail(Error::corrupt, "{}: metadata key {} is missing", impl.path, quote(key));
}

// The value of a key, if it is there, through one of the functions above.
template <typename Convert>
auto find_as(const Gguf::Impl& impl, std::string_view key, const char* expected, Convert convert)
    -> Result<std::invoke_result_t<Convert, const GgufValue&>> {
  using Found = std::invoke_result_t<Convert, const GgufValue&>;
  const GgufValue* value = impl.metadata.find(key);
  if (value == nullptr) return Found();
  Found found = convert(*value);
  if (!found) return wrong_type(impl, key, *value, expected);
  return found;
}

template <typename T>
Result<T> needed(const Gguf::Impl& impl, std::string_view key, Result<std::optional<T>> found) {
  if (!found) return std::move(found).error();
  if (!*found) return missing(impl, key);
  return **std::move(found);
}

}  // namespace

Result<std::optional<int64_t>> Gguf::find_i64(std::string_view key) const {
  return find_as(*impl_, key, "an integer below 2^63", integer_value);
}
Result<std::optional<double>> Gguf::find_f64(std::string_view key) const {
  return find_as(*impl_, key, "a number", number_value);
}
Result<std::optional<bool>> Gguf::find_bool(std::string_view key) const {
  return find_as(*impl_, key, "bool", bool_value);
}
Result<std::optional<std::string_view>> Gguf::find_string(std::string_view key) const {
  return find_as(*impl_, key, "string", string_value);
}
Result<Strings> Gguf::find_strings(std::string_view key) const {
  return find_as(*impl_, key, "array of string", strings_value);
}
Result<Ints> Gguf::find_i32s(std::string_view key) const {
  return find_as(*impl_, key, "array of integers that fit in 32 bits", ints_value);
}
Result<Floats> Gguf::find_f32s(std::string_view key) const {
  return find_as(*impl_, key, "array of float32", floats_value);
}

Result<int64_t> Gguf::get_i64(std::string_view key) const {
  return needed(*impl_, key, find_i64(key));
}
Result<double> Gguf::get_f64(std::string_view key) const {
  return needed(*impl_, key, find_f64(key));
}
Result<bool> Gguf::get_bool(std::string_view key) const {
  return needed(*impl_, key, find_bool(key));
}
Result<std::string_view> Gguf::get_string(std::string_view key) const {
  return needed(*impl_, key, find_string(key));
}
Result<StringArray> Gguf::get_strings(std::string_view key) const {
  return needed(*impl_, key, find_strings(key));
}
Result<std::vector<int32_t>> Gguf::get_i32s(std::string_view key) const {
  return needed(*impl_, key, find_i32s(key));
}
Result<std::vector<float>> Gguf::get_f32s(std::string_view key) const {
  return needed(*impl_, key, find_f32s(key));
}

bool Gguf::has(std::string_view key) const { return impl_->metadata.find(key) != nullptr; }

bool Gguf::is_array(std::string_view key) const {
  const GgufValue* value = impl_->metadata.find(key);
  return value != nullptr && value->is_array;
}

int64_t Gguf::array_size(std::string_view key) const {
  const GgufValue* value = impl_->metadata.find(key);
  return value != nullptr && value->is_array ? value->count : 0;
}

std::string Gguf::type_name(std::string_view key) const {
  const GgufValue* value = impl_->metadata.find(key);
  return value != nullptr ? mummu::type_name(*value) : std::string();
}

std::vector<std::string_view> Gguf::keys() const {
  std::vector<std::string_view> keys;
  for (const GgufMetadata::Entry& entry : impl_->metadata.entries()) keys.push_back(entry.key);
  return keys;
}

}  // namespace mummu
