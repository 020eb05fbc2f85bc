#!/usr/bin/env python3
"""How far the default model's predictions are from the reference's (golden/smollm2), for llama.cpp
and for mummu, on the same positions of the same file. Not part of CI.

    compare_llamacpp.py [--mummu BUILD/app/mummu] [--threads N]

Gate: our mean KL at most 1.1 times llama.cpp's, our top-1 agreement at most 1 point below its.
needs: pip install llama-cpp-python numpy safetensors
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
from safetensors.numpy import load_file

ROOT = pathlib.Path(__file__).resolve().parents[1]
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def fixture_folder() -> pathlib.Path:
    if "MUMMU_FIXTURES" in os.environ:
        return pathlib.Path(os.environ["MUMMU_FIXTURES"])
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return pathlib.Path(cache) / "mummu" / "fixtures"


def divergence(logits, top_ids, top_logprobs):
    """KL(reference || logits) of each row; all outcomes but the stored ones count as one."""
    logits = logits.astype(numpy.float64)
    top = logits.max(axis=1, keepdims=True)
    norm = top + numpy.log(numpy.exp(logits - top).sum(axis=1, keepdims=True))
    log_q = numpy.take_along_axis(logits, top_ids.astype(numpy.int64), axis=1) - norm
    log_p = top_logprobs.astype(numpy.float64)
    p = numpy.exp(log_p)
    rest = numpy.maximum(1 - p.sum(axis=1), 1e-12)
    rest_q = numpy.maximum(1 - numpy.exp(log_q).sum(axis=1), 1e-12)
    return (p * (log_p - log_q)).sum(axis=1) + rest * numpy.log(rest / rest_q)


def llamacpp_runner(path, threads):
    from llama_cpp import Llama

    model = Llama(str(path), n_ctx=1024, logits_all=True, n_threads=threads, verbose=False)

    def run(ids):
        model.reset()
        model.eval(ids.tolist())
        return numpy.array(model.scores[: len(ids)])

    return run


def mummu_runner(binary, path):
    def run(ids):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "logits.npy"
            text = ",".join(map(str, ids.tolist()))
            subprocess.run(
                [binary, "logits", str(path), "--ids", text, "--out", str(out)], check=True
            )
            return numpy.load(out)

    return run


def measure(name, run, reference):
    rows, agree, total = 0, 0, 0.0
    begin = 0
    for length, first in zip(reference["lengths"], reference["first"]):
        logits = run(reference["ids"][begin : begin + length])[first:]
        begin += length
        ids = reference["top_ids"][rows : rows + len(logits)]
        logprobs = reference["top_logprobs"][rows : rows + len(logits)]
        total += divergence(logits, ids, logprobs).sum()
        agree += int((logits.argmax(axis=1) == ids[:, 0]).sum())
        rows += len(logits)
    print(f"{name}: {rows} positions, mean KL {total / rows:.5f}, top-1 {100 * agree / rows:.2f} %")
    return total / rows, agree / rows


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mummu")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    reference = load_file(str(ROOT / "golden" / "smollm2" / "reference.safetensors"))
    path = fixture_folder() / FILE
    theirs = measure("llama.cpp", llamacpp_runner(path, arguments.threads), reference)
    if not arguments.mummu:
        return 0
    ours = measure("mummu", mummu_runner(arguments.mummu, path), reference)
    passed = ours[0] <= 1.1 * theirs[0] and ours[1] >= theirs[1] - 0.01
    print("gate passed" if passed else "gate failed")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
