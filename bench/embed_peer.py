#!/usr/bin/env python3
"""Vectors of 1,000 short texts against sentence-transformers: same model, same threads, same run, interleaved; medians.

    bench/embed_peer.py FOLDER --mummu build/release/app/mummu [-t 2] [-n 1000] [-r 7] [--isa avx2] [--long]

FOLDER is all-MiniLM-L6-v2 or another of its kind. Needs Python's sentence-transformers. Never part of CI. Loading is not
timed on either side. --long takes texts of 100 to 256 tokens.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

TEXTS = pathlib.Path(__file__).resolve().parents[1] / "golden" / "minilm" / "texts.jsonl"


def make_texts(count, long):
    known = [json.loads(line) for line in TEXTS.read_text(encoding="utf-8").splitlines()]
    known = [text for text in known if (400 < len(text) < 1200 if long else 20 < len(text) < 160)]
    return [f"{known[i % len(known)]} {i}" for i in range(count)]


class SentenceTransformers:
    def __init__(self, folder, threads):
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(threads)
        self.model = SentenceTransformer(folder, device="cpu", local_files_only=True)

    def measure(self, texts):
        start = time.perf_counter()
        vectors = self.model.encode(texts)
        return time.perf_counter() - start, vectors


def mummu(args, file):
    environment = dict(os.environ)
    if args.isa:
        environment["MUMMU_ISA"] = args.isa
    done = subprocess.run([args.mummu, "embed", args.folder, "--input", file, "--json", "-t", str(args.threads)],
                          env=environment, check=True, capture_output=True, text=True)
    seconds = re.search(r", ([0-9.]+) s, ", done.stderr.splitlines()[-1])
    return float(seconds.group(1)), [row["embedding"] for row in json.loads(done.stdout)["data"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--mummu", default="build/release/app/mummu")
    parser.add_argument("-t", "--threads", type=int, default=2)
    parser.add_argument("-n", "--texts", type=int, default=1000)
    parser.add_argument("-r", "--repeats", type=int, default=7)
    parser.add_argument("--isa", default="")
    parser.add_argument("--long", action="store_true")
    args = parser.parse_args()

    texts = make_texts(args.texts, args.long)
    peer = SentenceTransformers(args.folder, args.threads)
    peer.measure(texts[:32])
    ours, theirs = [], []
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.write("".join(json.dumps(text) + "\n" for text in texts))
        file.flush()
        for _ in range(args.repeats):
            seconds, vectors = mummu(args, file.name)
            ours.append(seconds)
            seconds, reference = peer.measure(texts)
            theirs.append(seconds)
    a, b = statistics.median(ours), statistics.median(theirs)
    worst = max(abs(float(x) - y) for row, theirs_ in zip(vectors, reference) for x, y in zip(row, theirs_))
    print(f"{args.texts} texts: mummu {args.texts / a:.0f} texts/s, sentence-transformers {args.texts / b:.0f} texts/s, "
          f"ratio {b / a:.2f}; largest difference of a component {worst:.1e}")
    print(f"{args.threads} threads, {args.repeats} interleaved runs")


if __name__ == "__main__":
    main()
