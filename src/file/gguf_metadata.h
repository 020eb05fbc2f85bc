#pragma once

// The key-value part of a GGUF file as it is kept in memory: elements as they lie in the file,
// arrays of strings in one piece.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "file/byte_stream.h"
#include "file/gguf_type.h"
#include "mummu/result.h"

namespace mummu {

struct GgufValue {
  GgufType type = GgufType::uint8;  // of the elements, for an array
  bool is_array = false;
  int64_t count = 1;  // elements
  std::string bytes;  // all elements; empty for an array of arrays, which is checked but not kept
  std::vector<uint32_t> ends;  // where each string of an array ends in `bytes`
};

// "uint32", "array of string".
std::string type_name(const GgufValue& value);

// Element i of a number or an array of numbers; empty if the type is another, or for an integer
// past int64.
//   requires 0 <= i < count
std::optional<int64_t> integer_element(const GgufValue& value, int64_t i);
std::optional<double> float_element(const GgufValue& value, int64_t i);

// The value of one integer; empty for anything else.
std::optional<int64_t> integer_value(const GgufValue& value);

class GgufMetadata {
 public:
  struct Entry {
    std::string key;
    GgufValue value;
  };

  // Reads `count` entries from where the stream stands. `path` is for messages.
  //   errors   corrupt
  static Result<GgufMetadata> read(ByteStream& stream, int64_t count, const std::string& path);

  const std::vector<Entry>& entries() const { return entries_; }  // in the order of the file
  const GgufValue* find(std::string_view key) const;              // nullptr: absent

 private:
  Result<void> index(const std::string& path);

  std::vector<Entry> entries_;
  std::vector<int32_t> by_key_;  // indices into entries_, sorted by key
};

}  // namespace mummu
