#include "engine/json_machine.h"

namespace mummu {
namespace {

using Place = JsonPlace;

constexpr JsonStep kNo{};
constexpr JsonStep kNoHere{.allowed = false, .by_context = true};
constexpr JsonStep kYesHere{.allowed = true, .by_context = true};

bool is_space(uint8_t byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }
bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }
bool is_hex(uint8_t byte) {
  return is_digit(byte) || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
}
bool is_between(uint8_t byte, uint8_t low, uint8_t high) { return byte >= low && byte <= high; }

JsonStep go(JsonState& state, Place place) {
  state.place = place;
  state.run = 0;
  return {.allowed = true, .by_context = false};
}
JsonStep go_if(bool allowed, JsonState& state, Place place) {
  return allowed ? go(state, place) : kNo;
}

bool in_object(const JsonState& state) { return (state.is_object >> (state.depth - 1) & 1) != 0; }

JsonStep open(JsonState& state, bool object) {
  if (state.depth == kJsonDepth) return kNoHere;
  const uint64_t bit = uint64_t{1} << state.depth++;
  state.is_object = object ? state.is_object | bit : state.is_object & ~bit;
  go(state, object ? Place::first_key : Place::first_value);
  return kYesHere;
}

JsonStep close(JsonState& state, bool object) {
  if (in_object(state) != object) return kNoHere;
  --state.depth;
  go(state, state.depth == 0 ? Place::end : Place::after_value);
  return kYesHere;
}

JsonStep open_string(JsonState& state, bool key) {
  state.in_key = key;
  return go(state, Place::string);
}

JsonStep start_value(JsonState& state, uint8_t byte) {
  if (byte == '"') return open_string(state, false);
  if (byte == '{' || byte == '[') return open(state, byte == '{');
  if (byte == 't') return go(state, Place::t);
  if (byte == 'f') return go(state, Place::f);
  if (byte == 'n') return go(state, Place::n);
  if (byte == '-') return go(state, Place::minus);
  if (byte == '0') return go(state, Place::zero);
  if (!is_digit(byte)) return kNo;
  go(state, Place::integer);
  state.run = 1;
  return {.allowed = true, .by_context = false};
}

JsonStep separate(JsonState& state) {
  go(state, in_object(state) ? Place::key : Place::value);
  return kYesHere;
}

JsonStep after_value(JsonState& state, uint8_t byte) {
  if (byte == ',') return separate(state);
  if (byte == '}' || byte == ']') return close(state, byte == '}');
  return kNo;
}

JsonStep between_values(JsonState& state, uint8_t byte) {
  if (state.place == Place::end) return kNo;
  if (is_space(byte)) {
    if (state.run == kJsonWhitespace) return kNoHere;
    ++state.run;
    return kYesHere;
  }
  switch (state.place) {
    case Place::before:
      return byte == '{' ? open(state, true) : kNo;
    case Place::first_key:
      if (byte == '}') return close(state, true);
      return byte == '"' ? open_string(state, true) : kNo;
    case Place::key:
      return byte == '"' ? open_string(state, true) : kNo;
    case Place::colon:
      return go_if(byte == ':', state, Place::value);
    case Place::first_value:
      if (byte == ']') return close(state, false);
      return start_value(state, byte);
    case Place::value:
      return start_value(state, byte);
    default:
      return after_value(state, byte);
  }
}

// One more digit of a part that may have `most` of them.
JsonStep count_digit(JsonState& state, int most) {
  if (state.run == most) return kNoHere;
  ++state.run;
  return kYesHere;
}

JsonStep exponent_digit(JsonState& state, uint8_t byte) {
  if (state.run == kJsonExponentDigits) return kNoHere;
  state.exponent = static_cast<uint16_t>(state.exponent * 10 + (byte - '0'));
  if (state.digits + state.exponent > kJsonMagnitude) return kNoHere;
  ++state.run;
  state.place = Place::exponent_digit;
  return kYesHere;
}

// A byte that ends a number, or goes on to its next part.
JsonStep end_number(JsonState& state, uint8_t byte) {
  const Place place = state.place;
  const bool whole = place == Place::zero || place == Place::integer;
  const bool to_point = whole && byte == '.';
  const bool to_exponent = (whole || place == Place::fraction) && (byte == 'e' || byte == 'E');
  if (to_point || to_exponent) {
    if (whole) state.digits = place == Place::zero ? 1 : state.run;
    state.exponent = 0;
    go(state, to_point ? Place::point : Place::exponent);
    return kYesHere;
  }
  go(state, Place::after_value);
  return between_values(state, byte);
}

JsonStep begin_exponent(JsonState& state, uint8_t byte) {
  if (byte == '-') return go(state, Place::exponent_minus);
  if (byte == '+') return go(state, Place::exponent_plus);
  return is_digit(byte) ? exponent_digit(state, byte) : kNo;
}

JsonStep in_number(JsonState& state, uint8_t byte) {
  const bool digit = is_digit(byte);
  switch (state.place) {
    case Place::minus:
      return digit ? start_value(state, byte) : kNo;
    case Place::point:
      if (!digit) return kNo;
      go(state, Place::fraction);
      return count_digit(state, kJsonDigits);
    case Place::exponent:
      return begin_exponent(state, byte);
    case Place::exponent_plus:
      return digit ? exponent_digit(state, byte) : kNo;
    case Place::exponent_minus:
      if (!digit) return kNo;
      go(state, Place::negative_exponent_digit);
      return count_digit(state, kJsonExponentDigits);
    case Place::zero:
      return digit ? kNo : end_number(state, byte);
    case Place::exponent_digit:
      return digit ? exponent_digit(state, byte) : end_number(state, byte);
    case Place::negative_exponent_digit:
      return digit ? count_digit(state, kJsonExponentDigits) : end_number(state, byte);
    default:
      return digit ? count_digit(state, kJsonDigits) : end_number(state, byte);
  }
}

JsonStep in_literal(JsonState& state, uint8_t byte) {
  constexpr std::string_view kNext =
      "rue"
      "alse"
      "ull";
  const auto at = static_cast<size_t>(state.place) - static_cast<size_t>(Place::t);
  if (byte != static_cast<uint8_t>(kNext[at])) return kNo;
  const bool last =
      state.place == Place::tru || state.place == Place::fals || state.place == Place::nul;
  return go(state,
            last ? Place::after_value : static_cast<Place>(static_cast<uint8_t>(state.place) + 1));
}

JsonStep close_string(JsonState& state) {
  const bool key = state.in_key;
  state.in_key = false;
  return go(state, key ? Place::colon : Place::after_value);
}

JsonStep in_text(JsonState& state, uint8_t byte) {
  if (byte == '"') return close_string(state);
  if (byte == '\\') return go(state, Place::escape);
  if (byte < 0x20) return kNo;
  if (byte < 0x80) return go(state, Place::string);
  if (is_between(byte, 0xC2, 0xDF)) return go(state, Place::tail_1);
  if (byte == 0xE0) return go(state, Place::tail_e0);
  if (byte == 0xED) return go(state, Place::tail_ed);
  if (is_between(byte, 0xE1, 0xEF)) return go(state, Place::tail_2);
  if (byte == 0xF0) return go(state, Place::tail_f0);
  if (byte == 0xF4) return go(state, Place::tail_f4);
  return go_if(is_between(byte, 0xF1, 0xF3), state, Place::tail_3);
}

JsonStep in_escape(JsonState& state, uint8_t byte) {
  if (byte == 'u') return go(state, Place::hex_1);
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  return go_if(kEscapes.find(static_cast<char>(byte)) != kEscapes.npos, state, Place::string);
}

// Behind \ud: the second digit says which half of a pair this is, if any. A low half stands only
// behind a high one.
JsonStep in_hex_2_d(JsonState& state, uint8_t byte) {
  if (is_between(byte, '0', '7')) return go(state, Place::hex_3);
  const bool high = byte == '8' || byte == '9' || (byte | 0x20) == 'a' || (byte | 0x20) == 'b';
  return go_if(high, state, Place::high_3);
}

JsonStep in_string(JsonState& state, uint8_t byte) {
  const auto lower = static_cast<uint8_t>(byte | 0x20);
  switch (state.place) {
    case Place::string:
      return in_text(state, byte);
    case Place::tail_1:
      return go_if(is_between(byte, 0x80, 0xBF), state, Place::string);
    case Place::tail_2:
      return go_if(is_between(byte, 0x80, 0xBF), state, Place::tail_1);
    case Place::tail_3:
      return go_if(is_between(byte, 0x80, 0xBF), state, Place::tail_2);
    case Place::tail_e0:
      return go_if(is_between(byte, 0xA0, 0xBF), state, Place::tail_1);
    case Place::tail_ed:
      return go_if(is_between(byte, 0x80, 0x9F), state, Place::tail_1);
    case Place::tail_f0:
      return go_if(is_between(byte, 0x90, 0xBF), state, Place::tail_2);
    case Place::tail_f4:
      return go_if(is_between(byte, 0x80, 0x8F), state, Place::tail_2);
    case Place::escape:
      return in_escape(state, byte);
    case Place::hex_1:
      return go_if(is_hex(byte), state, lower == 'd' ? Place::hex_2_d : Place::hex_2);
    case Place::hex_2:
      return go_if(is_hex(byte), state, Place::hex_3);
    case Place::hex_2_d:
      return in_hex_2_d(state, byte);
    case Place::hex_3:
      return go_if(is_hex(byte), state, Place::hex_4);
    case Place::hex_4:
      return go_if(is_hex(byte), state, Place::string);
    case Place::high_3:
      return go_if(is_hex(byte), state, Place::high_4);
    case Place::high_4:
      return go_if(is_hex(byte), state, Place::low_escape);
    case Place::low_escape:
      return go_if(byte == '\\', state, Place::low_u);
    case Place::low_u:
      return go_if(byte == 'u', state, Place::low_1);
    case Place::low_1:
      return go_if(lower == 'd', state, Place::low_2);
    default:
      return go_if(is_between(lower, 'c', 'f'), state, Place::hex_3);
  }
}

}  // namespace

JsonStep json_step(JsonState& state, uint8_t byte) {
  if (state.place < Place::minus) return between_values(state, byte);
  if (state.place < Place::t) return in_number(state, byte);
  if (state.place < Place::string) return in_literal(state, byte);
  return in_string(state, byte);
}

bool json_read(JsonState& state, std::string_view bytes) {
  for (const char byte : bytes)
    if (!json_step(state, static_cast<uint8_t>(byte)).allowed) return false;
  return true;
}

}  // namespace mummu
