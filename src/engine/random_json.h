#pragma once

// For tests: random JSON objects within the bounds of JSON mode, with everything that the grammar
// has; the same seed gives the same text.

#include <string>

#include "base/philox.h"

namespace mummu::test {

class RandomJson {
 public:
  explicit RandomJson(uint64_t seed) : seed_(seed) {}

  uint32_t draw(uint32_t bound) { return random_words(seed_, at_++, 5)[0] % bound; }

  std::string object(int depth) {
    std::string text = "{" + space();
    for (uint32_t i = draw(4); i > 0; --i) {
      text += string() + space() + ":" + space() + value(depth) + space();
      if (i > 1) text += "," + space();
    }
    return text + "}";
  }

 private:
  template <size_t n>
  const char* one_of(const char* const (&choices)[n]) {
    return choices[draw(n)];
  }

  std::string space() {
    std::string text;
    if (draw(3) == 0)
      for (uint32_t i = draw(5); i > 0; --i) text += " \n\t\r"[draw(4)];
    return text;
  }

  std::string string() {
    std::string text = "\"";
    for (uint32_t i = draw(8); i > 0; --i)
      text += one_of({"a",
                      "word",
                      " ",
                      "{",
                      "},{",
                      "\\\"",
                      "\\\\",
                      "\\/",
                      "\\n",
                      "\\u00E9",
                      "\\ud834\\uDD1e",
                      "\\uD7ff",
                      "é",
                      "ſ",
                      "€",
                      "\xed\x9f\xbf",
                      "😀",
                      "\xf4\x8f\xbf\xbf",
                      "\x7f",
                      "'",
                      ":",
                      ",",
                      "0",
                      "true"});
    return text + "\"";
  }

  std::string array(int depth) {
    std::string text = "[" + space();
    for (uint32_t i = draw(4); i > 0; --i) {
      text += value(depth) + space();
      if (i > 1) text += "," + space();
    }
    return text + "]";
  }

  std::string value(int depth) {
    const uint32_t kind = draw(depth > 0 ? 6 : 4);
    if (kind == 5) return object(depth - 1);
    if (kind == 4) return array(depth - 1);
    if (kind == 3) return string();
    return one_of({"0", "-0", "12", "-3.25", "1e5", "1E+05", "7.5e-10", "0.001", "true", "false",
                   "null", "98765432109876543210", "1.7976931348623157e300", "5e-99"});
  }

  uint64_t seed_;
  int64_t at_ = 0;
};

inline std::string random_json(uint64_t seed) { return RandomJson(seed).object(4); }

}  // namespace mummu::test
