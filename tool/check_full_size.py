#!/usr/bin/env python3
"""Checkpoints in the full size of public ones, with random weights: made by transformers in bf16, then loaded, measured
and run by Mummu, and held to transformers in float32 on the same weights. One at a time; each is deleted afterwards.

    check_full_size.py MUMMU_BINARY FOLDER [NAME ...]

FOLDER takes up to 3 GB, the memory needed is about 6 GB; needs what tool/python.sh --reference brings.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

LOGITS_BOUND = 1e-4  # of the largest logit
PROMPT = "Why is the sea salty?"
ANSWER = 8
SPARE = 96 << 20  # bytes: the program, its buffers and a small KV cache
NAMES = ["Qwen2.5-0.5B", "Qwen3-0.6B", "LFM2-1.2B", "OLMoE-1B-7B, 2 of 16 layers"]


def config_of(name):
    import transformers

    common = {"bos_token_id": 277, "eos_token_id": 279, "pad_token_id": 277}
    if name.startswith("Qwen2.5"):
        return transformers.Qwen2Config(
            **common, vocab_size=151936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24,
            num_attention_heads=14, num_key_value_heads=2, max_position_embeddings=32768, rms_norm_eps=1e-6,
            tie_word_embeddings=True, use_sliding_window=False, sliding_window=32768, max_window_layers=21,
            rope_parameters={"rope_type": "default", "rope_theta": 1000000.0})
    if name.startswith("Qwen3"):
        return transformers.Qwen3Config(
            **common, vocab_size=151936, hidden_size=1024, intermediate_size=3072, num_hidden_layers=28,
            num_attention_heads=16, num_key_value_heads=8, head_dim=128, max_position_embeddings=40960,
            rms_norm_eps=1e-6, tie_word_embeddings=True,
            rope_parameters={"rope_type": "default", "rope_theta": 1000000.0})
    if name.startswith("LFM2"):
        return transformers.Lfm2Config(
            **common, vocab_size=65536, hidden_size=2048, intermediate_size=12288, num_hidden_layers=16,
            num_attention_heads=32, num_key_value_heads=8, max_position_embeddings=128000, norm_eps=1e-5,
            conv_L_cache=3, full_attn_idxs=[2, 5, 8, 10, 12, 14])
    return transformers.OlmoeConfig(
        **common, vocab_size=50304, hidden_size=2048, intermediate_size=1024, num_hidden_layers=2,
        num_attention_heads=16, num_key_value_heads=16, num_experts=64, num_experts_per_tok=8,
        max_position_embeddings=4096, rms_norm_eps=1e-5)


def make(name, folder):
    """Random weights, shape by shape: the model is never there in more than bf16."""
    import torch
    import transformers
    from golden.tiny import seed_weights, write_tokenizer

    config = config_of(name)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.to_empty(device="cpu")
    model.tie_weights()
    with torch.no_grad():
        seed_weights(model, 1, small_embedding=config.tie_word_embeddings)
    model.save_pretrained(folder, max_shard_size="1GB")
    write_tokenizer(folder)


def compare(name, folder):
    """What Mummu wrote to the folder against transformers."""
    import numpy
    import torch
    import transformers

    torch.set_grad_enabled(False)
    asked = json.loads((folder / "asked.json").read_text())
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    logits = model(torch.tensor([asked["ids"]])).logits[0].numpy()
    chat = tokenizer.apply_chat_template([{"role": "user", "content": PROMPT}], add_generation_prompt=True,
                                         return_dict=True)["input_ids"]
    expected = []
    while len(expected) < ANSWER:  # rows of the embedding beyond the tokenizer's ids are never an answer
        best = int(model(torch.tensor([chat + expected])).logits[0, -1, : len(tokenizer)].argmax())
        if best == tokenizer.eos_token_id:
            break
        expected.append(best)
    ours = numpy.load(folder / "logits.npy")
    off = float(abs(ours - logits).max() / abs(logits).max())
    agree = float((ours.argmax(-1) == logits.argmax(-1)).mean())
    print(f"logits up to {abs(logits).max():.1f}, within {off:.2g} of that; best token the same in {agree:.0%}; "
          f"greedy ids {asked['answer']}", flush=True)
    if off > LOGITS_BOUND or agree < 1 or asked["answer"] != expected:
        sys.exit(f"{name}: not what transformers computes (greedy ids {expected})")


def apart(task, name, folder):
    """In a process of its own: what a child takes is measured from what its parent had."""
    subprocess.run([sys.executable, __file__, task, name, str(folder)], check=True)


def mummu(*words):
    """stdout, and the most memory it took in bytes."""
    child = subprocess.Popen([BINARY, *words], stdout=subprocess.PIPE)
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"mummu {' '.join(words)} failed")
    return out.decode(), usage.ru_maxrss * 1024


def check(name, folder):
    apart("make", name, folder)
    weights = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    config = json.loads((folder / "config.json").read_text())
    most = weights + 2 * config["vocab_size"] * config["hidden_size"] + SPARE
    said, peak = mummu("check", str(folder), "--ctx", "512")
    print(f"== {name}\n{said.strip()}", flush=True)
    if peak > SPARE:
        sys.exit(f"{name}: check took {peak / 1e6:.0f} MB")
    ids = [(7 * i * i + 3 * i) % 277 for i in range(24)]
    _, peak = mummu("logits", str(folder), "--ids", ",".join(map(str, ids)), "--out", str(folder / "logits.npy"),
                    "--kv", "f32")
    run, run_peak = mummu("run", str(folder), PROMPT, "--ctx", "512", "--kv", "f32", "--temperature", "0",
                          "--max-tokens", str(ANSWER), "--json")
    print(f"weights {weights / 1e6:.0f} MB, peak of logits {peak / 1e6:.0f} MB, of a run {run_peak / 1e6:.0f} MB",
          flush=True)
    (folder / "asked.json").write_text(json.dumps({"ids": ids, "answer": json.loads(run)["ids"]}))
    apart("compare", name, folder)
    if max(peak, run_peak) > most:
        sys.exit(f"{name}: more than the packed weights, one tensor and {SPARE / 1e6:.0f} MB")


def main():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[1] in ("make", "compare"):
        globals()[sys.argv[1]](sys.argv[2], pathlib.Path(sys.argv[3]))
        return
    global BINARY
    BINARY = sys.argv[1]
    folder = pathlib.Path(sys.argv[2])
    for name in sys.argv[3:] or NAMES:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            check(name, folder)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
