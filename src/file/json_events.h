#pragma once

// JSON text as a series of events, for readers that must not build the whole document.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "mummu/result.h"

namespace mummu {

// A value that is no array and no object. Integers that are not negative come as uint64_t.
using JsonScalar = std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string>;

// What a parse reports, in the order of the text. An error ends the parse; its message needs no
// place, parse adds that.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual Result<void> scalar(JsonScalar value) = 0;
  virtual Result<void> begin_object() = 0;
  virtual Result<void> key(std::string name) = 0;
  virtual Result<void> end_object() = 0;
  virtual Result<void> begin_array() = 0;
  virtual Result<void> end_array() = 0;
};

// Parses one JSON document in UTF-8.
//   errors   corrupt ("WHERE: at byte N: ..."): not JSON, not UTF-8, a number that no double holds,
//   arrays and objects deeper
//            than `depth`, or what an event returned
Result<void> parse_json_events(std::string_view text, std::string_view where, int depth,
                               JsonEvents& events);

}  // namespace mummu
