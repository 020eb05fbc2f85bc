#!/usr/bin/env python3
"""Encoding speed beside the Python package tokenizers, one thread each: MB a second of processor time and the ratio.

    bench/text_peer.py --bench build/bench/text_bench --english FILE MODEL...

English text is a file of the caller's (a megabyte of prose); the nasty text is made of golden/text/corpus/.
"""

import argparse
import glob
import json
import os
import random
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tool"))
os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import text_reference  # noqa: E402

RUNS = 3
NASTY_BYTES = 1_000_000


def nasty_text():
    texts = []
    for path in sorted(glob.glob(os.path.join(ROOT, "golden/text/corpus/*.jsonl"))):
        with open(path, encoding="utf-8") as file:
            texts += [json.loads(line) for line in file]
    random_, out = random.Random(1), ""
    while len(out.encode()) < NASTY_BYTES:
        random_.shuffle(texts)
        out += " ".join(texts)
    return out


def reference_speed(model, path):
    reference = text_reference.Reference(text_reference.reference_json(model))
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    best = 1e9
    for _ in range(RUNS):
        begin = time.process_time()
        reference.encode(text)
        best = min(best, time.process_time() - begin)
    return len(text.encode()) / best / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bench", default="build/bench/text_bench")
    parser.add_argument("--english", required=True)
    parser.add_argument("model", nargs="+")
    arguments = parser.parse_args()
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", newline="", suffix=".txt") as nasty:
        nasty.write(nasty_text())
        nasty.flush()
        for model in arguments.model:
            files = {"english": arguments.english, "nasty": nasty.name}
            result = subprocess.run([arguments.bench, model, *files.values()], capture_output=True, text=True, check=True)
            for name, line in zip(files, result.stdout.splitlines()):
                ours, theirs = json.loads(line)["mb_s"], reference_speed(model, files[name])
                print(f"{os.path.basename(model)} {name}: {ours:.1f} MB/s, tokenizers {theirs:.1f} MB/s, ratio {ours / theirs:.1f}", flush=True)


if __name__ == "__main__":
    main()
