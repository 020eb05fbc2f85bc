#pragma once

// The generated tables behind character.h: sorted ranges of code points.

#include <cstdint>
#include <span>

namespace mummu::jinja {

struct PointRange {
  char32_t first, last;
};
// Every `stride`-th code point from first to last is mapped to itself plus delta.
struct CaseRange {
  char32_t first, last;
  int32_t delta;
  uint32_t stride;
};
// One code point that becomes several.
struct SpecialCase {
  char32_t from;
  char32_t to[3];
};

extern const std::span<const PointRange> kAlpha, kDecimal, kDigit, kNumeric, kPrintable, kUpper,
    kLower, kTitle, kCased, kIgnorable, kNameStart, kNamePart;
extern const std::span<const CaseRange> kUpperSimple, kLowerSimple, kTitleSimple, kFoldedSimple;
extern const std::span<const SpecialCase> kUpperSpecial, kLowerSpecial, kTitleSpecial,
    kFoldedSpecial;

}  // namespace mummu::jinja
