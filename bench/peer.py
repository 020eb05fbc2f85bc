#!/usr/bin/env python3
"""Prefill and decode against llama.cpp: same file, same threads, same run, interleaved; medians and ratios.

    bench/peer.py MODEL.gguf --mummu build/release/app/mummu [-t 2] [-p 512] [-n 64] [-r 7] [--isa avx2] [--busy]

Needs Python's llama-cpp-python, built for this machine (CMAKE_ARGS=-DGGML_NATIVE=ON). Never part of CI.
--busy runs one foreign busy loop and compares our two threads with our one thread under it.
"""

import argparse
import ctypes
import json
import multiprocessing
import os
import statistics
import subprocess
import time


def burn():
    while True:
        pass


class LlamaCpp:
    """llama.cpp's own decode calls, timed the way `mummu bench` times itself."""

    def __init__(self, path, threads, tokens):
        import llama_cpp

        self.lib = llama_cpp
        self.quiet = llama_cpp.llama_log_callback(lambda *_: None)  # must outlive every call
        llama_cpp.llama_log_set(self.quiet, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(
            path.encode(), llama_cpp.llama_model_default_params())
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = tokens
        params.n_batch = tokens
        params.n_ubatch = 512
        params.n_threads = threads
        params.n_threads_batch = threads
        self.context = llama_cpp.llama_init_from_model(self.model, params)
        vocab = llama_cpp.llama_model_get_vocab(self.model)
        self.vocab = llama_cpp.llama_vocab_n_tokens(vocab)

    def decode(self, ids):
        array = (self.lib.llama_token * len(ids))(*ids)
        if self.lib.llama_decode(self.context, self.lib.llama_batch_get_one(array, len(ids))) != 0:
            raise RuntimeError("llama_decode failed")
        self.lib.llama_get_logits(self.context)

    def measure(self, prompt, answer):
        self.lib.llama_memory_clear(self.lib.llama_get_memory(self.context), True)
        ids = [(i * 7919 + 31) % self.vocab for i in range(prompt)]
        start = time.perf_counter()
        self.decode(ids)
        first = time.perf_counter()
        for i in range(answer):
            self.decode([(i * 104729 + 7) % self.vocab])
        last = time.perf_counter()
        return prompt / (first - start), answer / (last - first)


def mummu(args, threads, repeats=1):
    environment = dict(os.environ)
    if args.isa:
        environment["MUMMU_ISA"] = args.isa
    out = subprocess.run(
        [args.mummu, "bench", args.model, "-p", str(args.prompt), "-n", str(args.answer), "-t", str(threads),
         "-r", str(repeats), "--json"], env=environment, check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def compare(args):
    peer = LlamaCpp(args.model, args.threads, args.prompt + args.answer + 16)
    peer.measure(32, 4)
    ours, theirs = [], []
    for _ in range(args.repeats):
        ours.append(mummu(args, args.threads))
        theirs.append(peer.measure(args.prompt, args.answer))
    for name, key, index in (("prefill", "prefill_tps", 0), ("decode", "decode_tps", 1)):
        a = statistics.median(run[key] for run in ours)
        b = statistics.median(run[index] for run in theirs)
        print(f"{name}: mummu {a:.1f} tok/s, llama.cpp {b:.1f} tok/s, ratio {a / b:.2f}")
    print(f"isa {ours[0]['isa']}, {args.threads} threads, decode {statistics.median(r['decode_gbps'] for r in ours):.1f} GB/s"
          f" of {statistics.median(r['read_gbps'] for r in ours):.1f} GB/s read, {args.repeats} interleaved runs")


def busy(args):
    loop = multiprocessing.Process(target=burn, daemon=True)
    loop.start()
    try:
        one, two = [], []
        for _ in range(args.repeats):
            one.append(mummu(args, 1, 3)["decode_tps"])
            two.append(mummu(args, 2, 3)["decode_tps"])
    finally:
        loop.terminate()
        loop.join()
    a, b = statistics.median(two), statistics.median(one)
    print(f"with a foreign busy loop: two threads {a:.1f} tok/s, one thread {b:.1f} tok/s, ratio {a / b:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--mummu", default="build/release/app/mummu")
    parser.add_argument("-t", "--threads", type=int, default=2)
    parser.add_argument("-p", "--prompt", type=int, default=512)
    parser.add_argument("-n", "--answer", type=int, default=64)
    parser.add_argument("-r", "--repeats", type=int, default=7)
    parser.add_argument("--isa", default="")
    parser.add_argument("--busy", action="store_true")
    args = parser.parse_args()
    (busy if args.busy else compare)(args)


if __name__ == "__main__":
    main()
