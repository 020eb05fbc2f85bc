#!/usr/bin/env python3
"""Compares ids with the Python package tokenizers on nasty strings, through the command line.

    tool/python.sh tool/check_tokenizer.py --mummu build/app/mummu [--count 2000] [--seed 1] [MODEL...]

The strings are every line of golden/text/corpus/ and random ones made of them. MODEL is a GGUF file, a folder with
tokenizer.json, or a tokenizer.json; without one, the fixtures of tool/fetch_models.sh --tests are taken. Each string
goes through as text of users and as text of a template (--special). Exits with 1 if a string differs.
"""

import argparse
import glob
import json
import os
import random
import subprocess
import sys

import text_reference

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden/text/corpus/*.jsonl")
CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
FIXTURES = os.environ.get("MUMMU_FIXTURES") or os.path.join(CACHE, "mummu/fixtures")
MODELS = ["SmolLM2-135M-Instruct.Q4_1.gguf", "all-MiniLM-L6-v2"] + [
    f"vocab/ggml-vocab-{name}.gguf" for name in ("qwen2", "llama-bpe", "llama-spm", "phi-3")
]
# First and last code points that strings are drawn from.
RANGES = [(0x20, 0x7E), (0x20, 0x7E), (0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF),
          (0x590, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F), (0x1100, 0x11FF), (0x1E00, 0x1EFF), (0x2000, 0x206F),
          (0x2100, 0x218F), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFB00, 0xFDFF),
          (0xFE00, 0xFFFD), (0x10000, 0x1FFFF), (0x1F300, 0x1FAFF), (0x20000, 0x2FA1F), (0x0, 0x1F), (0x7F, 0x9F),
          (0xE0000, 0xE01FF), (0x0, 0x10FFFF)]
SPACES = [" ", " ", " ", "  ", "    ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u3000", "\u200b", " \n", "\n "]


def character(random_):
    low, high = random_.choice(RANGES)
    code = random_.randint(low, high)
    return "?" if 0xD800 <= code <= 0xDFFF else chr(code)


def part(random_, words, tokens):
    kind = random_.randrange(8)
    if kind == 0:
        return character(random_) * random_.choice([1, 2, 3, 7, 40, 101])
    if kind == 1:
        return "".join(character(random_) for _ in range(random_.randint(1, 8)))
    if kind == 2:
        return str(random_.randint(0, 10 ** random_.randint(1, 12)))
    if kind == 3 and tokens:
        token = random_.choice(tokens)
        return random_.choice([token, token, token[:-1], token[1:], token.upper()])
    if kind == 4:
        return random_.choice(["'s", "'LL", "n't", "'\u017f", "...", "!?", "->", "//", "--", "''", "\u2019re"])
    word = random_.choice(words)
    return word[: random_.randint(1, 30)]


def corpus():
    for path in sorted(glob.glob(CORPUS)):
        with open(path, encoding="utf-8") as file:
            yield from map(json.loads, file)


def strings(count, seed, tokens):
    random_ = random.Random(seed)
    texts = list(corpus())
    words = [word for text in texts for word in text.split(" ") if word]
    yield from texts
    for _ in range(count - len(texts)):
        text = ""
        for _ in range(random_.randint(1, 12)):
            text += part(random_, words, tokens)
            if random_.random() < 0.6:
                text += random_.choice(SPACES)
        yield text


def ours(mummu, model, texts, special):
    command = [mummu, "tokenize", model, "--jsonl"] + (["--special"] if special else [])
    text = "".join(json.dumps(t) + "\n" for t in texts)
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: {result.stderr.strip()}")
    return [json.loads(line) for line in result.stdout.split("\n") if line]


def check(mummu, model, count, seed):
    root = text_reference.reference_json(model)
    reference = text_reference.Reference(root)
    texts = list(strings(count, seed, [token["content"] for token in root["added_tokens"]]))
    bad = 0
    for special in (False, True):
        answers = ours(mummu, model, texts, special)
        if len(answers) != len(texts):
            sys.exit(f"{model}: {len(answers)} answers to {len(texts)} strings")
        for text, ids in zip(texts, answers):
            expected = reference.encode(text, special)
            if ids == expected:
                continue
            bad += 1
            if bad <= 5:
                print(f"{model}{' --special' if special else ''}: {json.dumps(text)}\n  expected {expected}\n  got      {ids}")
    print(f"{model}: {2 * len(texts)} encodings, seed {seed}, {bad} differ", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mummu", default="build/app/mummu")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("model", nargs="*")
    arguments = parser.parse_args()
    models = arguments.model or [os.path.join(FIXTURES, name) for name in MODELS]
    bad = sum(check(arguments.mummu, model, arguments.count, arguments.seed) for model in models)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
