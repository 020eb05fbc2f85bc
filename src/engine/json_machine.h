#pragma once

// One JSON object, read byte by byte: what may come next. The state is a plain value of a few
// words; copying it is a fork. Stricter than the grammar where a reader could choke or a model
// could run on for ever:
//
//   nesting      at most 64 objects and arrays
//   white space  at most 8 bytes in a row
//   numbers      at most 64 digits before the point and 64 after it, an exponent of at most 3
//                digits, and below 10^308, so that every reader gets a finite number
//   strings      well-formed UTF-8; \u surrogates only in pairs
//
//   source   RFC 8259; well-formed UTF-8 as in table 3-7 of the Unicode standard

#include <cstdint>
#include <string_view>

namespace mummu {

// What a byte may be depends on the place, and in a few places on the context (the rest of
// JsonState) too.
enum class JsonPlace : uint8_t {
  before,       // the object has not begun
  first_key,    // behind {
  key,          // behind , in an object
  colon,        // behind a key
  value,        // behind : or , in an array
  first_value,  // behind [
  after_value,
  end,  // the object is complete: nothing may come
  // numbers, by what was read last
  minus,
  zero,
  integer,
  point,
  fraction,
  exponent,
  exponent_plus,
  exponent_minus,
  exponent_digit,
  negative_exponent_digit,
  // in the middle of true, false, null
  t,
  tr,
  tru,
  f,
  fa,
  fal,
  fals,
  n,
  nu,
  nul,
  // strings; all that follow
  string,
  tail_1,  // so many bytes of a code point are missing
  tail_2,
  tail_3,
  tail_e0,  // behind these first bytes the second one has a narrower range
  tail_ed,
  tail_f0,
  tail_f4,
  escape,
  hex_1,  // the first of four hexadecimal digits comes
  hex_2,
  hex_2_d,  // the second, behind d: it says whether this is a surrogate
  hex_3,
  hex_4,
  high_3,  // the same of a high surrogate
  high_4,
  low_escape,  // what must follow a high surrogate: \uDC00 to \uDFFF
  low_u,
  low_1,
  low_2,
  count,
};

struct JsonState {
  JsonPlace place = JsonPlace::before;
  bool in_key = false;     // in a string that is a key
  uint8_t run = 0;         // white space in a row, or digits of the part of a number
  uint8_t digits = 0;      // before the point
  uint16_t exponent = 0;   // its value so far
  uint8_t depth = 0;       // open objects and arrays
  uint64_t is_object = 0;  // bit i: the one at depth i + 1

  bool complete() const { return place == JsonPlace::end; }
  friend bool operator==(const JsonState&, const JsonState&) = default;
};

inline constexpr int kJsonDepth = 64;
inline constexpr int kJsonWhitespace = 8;
inline constexpr int kJsonDigits = 64;
inline constexpr int kJsonExponentDigits = 3;
inline constexpr int kJsonMagnitude = 308;

struct JsonStep {
  bool allowed = false;
  bool by_context = false;  // another context at the same place might have said otherwise
};

// Reads one byte. A step that is not by context reads nothing but the place and changes nothing but
// place, in_key and run.
JsonStep json_step(JsonState& state, uint8_t byte);

// Reads all bytes, or says that they may not come; the state is not to be used then.
bool json_read(JsonState& state, std::string_view bytes);

}  // namespace mummu
