#!/usr/bin/env python3
"""Writes src/text/jinja/character_table.cpp: what Python's str methods see in a code point.

The tables come from asking Python itself, so they are those of its Unicode version (printed).
    python3 tool/make_character_table.py > src/text/jinja/character_table.cpp
"""
import sys
import unicodedata

POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def follows_cased(before):
    """Whether a final sigma stands after this text."""
    return (before + "\u03a3").lower().endswith("\u03c2")


CASED = {c for c in POINTS if follows_cased(chr(c))}
IGNORABLE = {c for c in POINTS if c not in CASED and follows_cased("A" + chr(c))}

PROPERTIES = {
    "kAlpha": lambda c: chr(c).isalpha(),
    "kDecimal": lambda c: chr(c).isdecimal(),
    "kDigit": lambda c: chr(c).isdigit(),
    "kNumeric": lambda c: chr(c).isnumeric(),
    "kPrintable": lambda c: chr(c).isprintable(),
    "kUpper": lambda c: chr(c).isupper(),
    "kLower": lambda c: chr(c).islower(),
    "kTitle": lambda c: unicodedata.category(chr(c)) == "Lt",
    "kCased": lambda c: c in CASED,
    "kIgnorable": lambda c: c in IGNORABLE,
    "kNameStart": lambda c: chr(c).isidentifier(),
    "kNamePart": lambda c: ("a" + chr(c)).isidentifier(),
}
CASES = {"Upper": str.upper, "Lower": str.lower, "Title": str.title, "Folded": str.casefold}


def ranges(holds):
    out = []
    for c in POINTS:
        if not holds(c):
            continue
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def case_table(case):
    """Runs of one-to-one mappings with one difference and one stride, and the rest one by one."""
    simple, special = [], []
    for c in POINTS:
        mapped = case(chr(c))
        if mapped == chr(c):
            continue
        if len(mapped) > 1:
            special.append((c, [ord(m) for m in mapped]))
            continue
        delta = ord(mapped) - c
        last = simple[-1] if simple else None
        if last and last[2] == delta:
            step = c - last[1]
            if step <= 2 and (last[0] == last[1] or step == last[3]):
                last[1], last[3] = c, step
                continue
        simple.append([c, c, delta, 1])
    return simple, special


def rows(items, width=100):
    line = "   "
    for item in items:
        if len(line) + len(item) + 2 > width:
            print(line)
            line = "   "
        line += " " + item + ","
    print(line)


def main():
    print("// Made by tool/make_character_table.py from Unicode", unicodedata.unidata_version + "; do not edit.\n")
    print('#include "text/jinja/character_table.h"\n')
    print("namespace mummu::jinja {\n")
    print("// clang-format off")
    for name, holds in PROPERTIES.items():
        found = ranges(holds)
        print(f"static constexpr PointRange {name}Ranges[] = {{")
        rows(f"{{{a:#x}, {b:#x}}}" for a, b in found)
        print(f"}};\nconst std::span<const PointRange> {name} = {name}Ranges;")
    for name, case in CASES.items():
        simple, special = case_table(case)
        print(f"static constexpr CaseRange kTo{name}Ranges[] = {{")
        rows(f"{{{a:#x}, {b:#x}, {d}, {s}}}" for a, b, d, s in simple)
        print(f"}};\nconst std::span<const CaseRange> k{name}Simple = kTo{name}Ranges;")
        print(f"static constexpr SpecialCase k{name}Cases[] = {{")
        rows("{%s, {%s}}" % (hex(c), ", ".join(hex(m) for m in mapped)) for c, mapped in special or [(0xFFFFFFFF, [0])])
        print(f"}};\nconst std::span<const SpecialCase> k{name}Special = k{name}Cases;")
    print("// clang-format on")
    print("\n}  // namespace mummu::jinja")


if __name__ == "__main__":
    sys.exit(main())
