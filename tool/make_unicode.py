#!/usr/bin/env python3
"""Writes src/text/unicode_table.cpp: what the reference tokenizers see in every code point.

The classes are asked of the Python package `tokenizers` itself (its regular expressions and its
normalizers, each over all code points), because ids must not depend on the Unicode version of the
machine that reads a text. Run it when the reference moves to another Unicode version:

    pip install tokenizers && tool/make_unicode.py
"""

import pathlib

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

BLOCK = 128
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
ALL = "".join(map(chr, CODE_POINTS))


def matched(pattern):
    """Code points that a pattern of one character matches."""
    rest = set(normalizers.Replace(Regex(pattern), "").normalize_str(ALL))
    return {c for c in CODE_POINTS if chr(c) not in rest}


def removed(pre_tokenizer):
    rest = set()
    for piece, _ in pre_tokenizer.pre_tokenize_str(ALL):
        rest |= set(piece)
    return {c for c in CODE_POINTS if chr(c) not in rest}


def numeric():
    """Code points that Digits cuts out one by one."""
    single = pre_tokenizers.Digits(individual_digits=True)
    return {c for c in CODE_POINTS if len(single.pre_tokenize_str(chr(c) + chr(c))) == 2}


def words():
    """Word characters of the pre-tokenizer Whitespace: they stay in one piece with a letter."""
    whitespace = pre_tokenizers.Whitespace()
    return {c for c in CODE_POINTS if len(whitespace.pre_tokenize_str("a" + chr(c))) == 1
            and len(whitespace.pre_tokenize_str(chr(c))) == 1}


def bert(**options):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    normalizer = normalizers.BertNormalizer(**(off | options))
    return {c: normalizer.normalize_str(chr(c)) for c in CODE_POINTS}


def combining():
    """Code points that StripAccents removes."""
    rest = set(normalizers.StripAccents().normalize_str(ALL))
    return {c for c in CODE_POINTS if chr(c) not in rest}


def normalizes():
    """Code points that a normal form may change or move: what later versions of Unicode add is left alone."""
    nfkd, nfd = normalizers.NFKD(), normalizers.NFD()
    changed = {c for c in CODE_POINTS if nfkd.normalize_str(chr(c)) != chr(c)}
    # The combining class of U+0345 is the highest of all: every other mark moves before it.
    moved = {c for c in CODE_POINTS if nfd.normalize_str("a\u0345" + chr(c)) == "a" + chr(c) + "\u0345"}
    return changed | moved | {0x345}


def classes():
    clean = bert(clean_text=True)
    chinese = bert(handle_chinese_chars=True)
    return [
        ("letter", matched(r"\p{L}")),
        ("number", matched(r"\p{N}")),
        ("mark", matched(r"\p{M}")),
        ("space", matched(r"\s")),
        ("punctuation", matched(r"\p{P}")),
        ("numeric", numeric()),
        ("split_punctuation", removed(pre_tokenizers.Punctuation("removed"))),
        ("word", words()),
        ("bert_removed", {c for c, s in clean.items() if s == ""}),
        ("bert_space", {c for c, s in clean.items() if s == " "}),
        ("bert_chinese", {c for c, s in chinese.items() if len(s) == 3}),
        ("combining", combining()),
        ("bert_accent", {c for c, s in bert(strip_accents=True).items() if s == ""}),
        ("upper", matched(r"[\p{Lu}\p{Lt}]")),
        ("lower", matched(r"\p{Ll}")),
        ("normalizes", normalizes()),
    ]


def lowercase():
    lower = normalizers.Lowercase()
    rows = []
    assert all(text == lower.normalize_str(chr(c)) for c, text in bert(lowercase=True).items())
    for c in CODE_POINTS:
        text = lower.normalize_str(chr(c))
        if text != chr(c):
            points = [ord(x) for x in text]
            assert len(points) <= 2
            rows.append((c, points + [0] * (2 - len(points))))
    return rows


def lines(values, width=16):
    for i in range(0, len(values), width):
        yield "    " + " ".join(f"{v}," for v in values[i : i + width])


def main():
    named = classes()
    flags = [0] * 0x110000
    for bit, (name, members) in enumerate(named):
        print(f"{name}: {len(members)}")
        for c in members:
            flags[c] |= 1 << bit
    kinds = sorted(set(flags))
    index = {f: i for i, f in enumerate(kinds)}
    blocks, block_of, seen = [], [], {}
    for start in range(0, 0x110000, BLOCK):
        block = tuple(index[f] for f in flags[start : start + BLOCK])
        if block not in seen:
            seen[block] = len(blocks)
            blocks.append(block)
        block_of.append(seen[block])
    lower = lowercase()
    assert len(kinds) <= 256 and len(blocks) <= 65535

    # Blocks at the end that are all alike are left out of the first stage.
    while block_of[-1] == block_of[-2]:
        block_of.pop()
    out = [
        "// Written by tool/make_unicode.py; do not edit.",
        f"//   source   the Python package tokenizers {tokenizers.__version__}, asked about every"
        " code point",
        "",
        '#include "text/unicode.h"',
        "",
        "namespace mummu::unicode_table {",
        "",
        "// clang-format off",
        f"const size_t kBlocks = {len(block_of)};",
        f"const uint16_t kFlags[] = {{",
        *lines([f"0x{k:04x}" for k in kinds], 12),
        "};",
        "const uint16_t kBlockOf[] = {",
        *lines(block_of),
        "};",
        f"const uint8_t kKind[] = {{",
        *lines([k for block in blocks for k in block], 24),
        "};",
        f"const size_t kLowerCount = {len(lower)};",
        "const Lower kLower[] = {",
        *("    " + " ".join(f"{{0x{c:x}, {{0x{p[0]:x}, 0x{p[1]:x}}}}}," for c, p in lower[i : i + 3])
          for i in range(0, len(lower), 3)),
        "};",
        "// clang-format on",
        "",
        "}  // namespace mummu::unicode_table",
        "",
    ]
    path = pathlib.Path(__file__).parent.parent / "src/text/unicode_table.cpp"
    path.write_text("\n".join(out))
    print(f"{path}: {len(kinds)} kinds, {len(blocks)} blocks, {len(lower)} lower case mappings")


if __name__ == "__main__":
    main()
