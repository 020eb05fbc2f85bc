#!/usr/bin/env python3
"""Many sequences against llama.cpp's batched decode: same file, threads and run, interleaved; medians and ratios.

    bench/engine_peer.py MODEL.gguf --mummu build/release/bench/engine_bench [-t 2] [-s 1,2,4,8,16,32] [-r 5]

Needs Python's llama-cpp-python, built for this machine (CMAKE_ARGS=-DGGML_NATIVE=ON). Never part of CI.
"""

import argparse
import ctypes
import json
import statistics
import subprocess
import time

PROMPT, ANSWER = 32, 56


class LlamaCpp:
    """llama_decode with one token of each sequence a call."""

    def __init__(self, path, threads, sequences):
        import llama_cpp

        self.lib = llama_cpp
        self.quiet = llama_cpp.llama_log_callback(lambda *_: None)  # must outlive every call
        llama_cpp.llama_log_set(self.quiet, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), llama_cpp.llama_model_default_params())
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = sequences * 128
        params.n_batch = params.n_ubatch = 2048
        params.n_seq_max = sequences
        params.n_threads = params.n_threads_batch = threads
        self.context = llama_cpp.llama_init_from_model(self.model, params)
        self.vocab = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))
        self.batch = llama_cpp.llama_batch_init(2048, 0, 1)

    def decode(self, rows):
        """rows: (token, position, sequence, whether its logits are wanted)"""
        batch = self.batch
        batch.n_tokens = len(rows)
        for i, (token, position, sequence, wanted) in enumerate(rows):
            batch.token[i] = token
            batch.pos[i] = position
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = sequence
            batch.logits[i] = wanted
        if self.lib.llama_decode(self.context, batch) != 0:
            raise RuntimeError("llama_decode failed")
        self.lib.llama_get_logits(self.context)

    def measure(self, sequences):
        self.lib.llama_memory_clear(self.lib.llama_get_memory(self.context), True)
        for s in range(sequences):
            self.decode([((i * 7919 + 31 + s * 101) % self.vocab, i, s, i == PROMPT - 1) for i in range(PROMPT)])
        start = time.perf_counter()
        for step in range(ANSWER):
            self.decode([((step * 104729 + s) % self.vocab, PROMPT + step, s, True) for s in range(sequences)])
        return sequences * ANSWER / (time.perf_counter() - start)


def ours(args, sequences):
    out = subprocess.run(
        [args.mummu, args.model, "--threads", str(args.threads), "--sequences", str(sequences), "--prompt", str(PROMPT),
         "--answer", "64", "--repeats", "1", "--arrival", "0", "--json"], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)["tps"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--mummu", default="build/release/bench/engine_bench")
    parser.add_argument("-t", "--threads", type=int, default=2)
    parser.add_argument("-s", "--sequences", default="1,2,4,8,16,32")
    parser.add_argument("-r", "--repeats", type=int, default=5)
    args = parser.parse_args()
    counts = [int(count) for count in args.sequences.split(",")]
    peer = LlamaCpp(args.model, args.threads, max(counts))
    mine, theirs = {count: [] for count in counts}, {count: [] for count in counts}
    for _ in range(args.repeats):
        for count in counts:
            mine[count].append(ours(args, count))
            theirs[count].append(peer.measure(count))
    for count in counts:
        a, b = statistics.median(mine[count]), statistics.median(theirs[count])
        print(f"{count:2} sequences: mummu {a:.0f} tok/s in all, llama.cpp {b:.0f}, ratio {a / b:.2f}")


if __name__ == "__main__":
    main()
