// Numbers out of the bytes of a GGUF value.

#include <cstring>
#include <utility>

#include "file/gguf_metadata.h"

namespace mummu {
namespace {

template <typename T>
T load(const GgufValue& value, int64_t i) {
  T out;
  std::memcpy(&out, value.bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return out;
}

}  // namespace

std::optional<int64_t> integer_element(const GgufValue& value, int64_t i) {
  switch (value.type) {
    case GgufType::uint8:
      return load<uint8_t>(value, i);
    case GgufType::int8:
      return load<int8_t>(value, i);
    case GgufType::uint16:
      return load<uint16_t>(value, i);
    case GgufType::int16:
      return load<int16_t>(value, i);
    case GgufType::uint32:
      return load<uint32_t>(value, i);
    case GgufType::int32:
      return load<int32_t>(value, i);
    case GgufType::int64:
      return load<int64_t>(value, i);
    case GgufType::uint64: {
      const auto number = load<uint64_t>(value, i);
      return std::in_range<int64_t>(number) ? std::optional(static_cast<int64_t>(number))
                                            : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> float_element(const GgufValue& value, int64_t i) {
  if (value.type == GgufType::float32) return load<float>(value, i);
  if (value.type == GgufType::float64) return load<double>(value, i);
  return std::nullopt;
}

std::optional<int64_t> integer_value(const GgufValue& value) {
  return value.is_array ? std::nullopt : integer_element(value, 0);
}

}  // namespace mummu
