"""Tiny seeded checkpoints of every family, in both formats, with what transformers computes of them.

golden/FAMILY/VARIANT/ then holds config.json, model.safetensors (or shards), a byte-level tokenizer, the same
weights as model.gguf (or its parts), and expected.safetensors:
    ids        (1100)                  one sequence; shorter ones are its beginnings
    rows       (n)                     positions whose values are stored
    hidden     (layers + 1, n, hidden) after the embedding and after every layer
    logits     (n, vocab)
    prompt     (p)                     and its 48 greedy ids in `greedy`
"""

import json
import pathlib
import shutil
import sys

import numpy
import torch
from safetensors.numpy import save_file

from . import tiny_gguf
from .tiny_config import VARIANTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
LENGTH = 1100
ROWS = [0, 1, 2, 14, 15, 16, 31, 63, 127, 255, 510, 511, 512, 1023, 1099]
PROMPT = 12
GREEDY = 48
TOKENS = 280  # of the tokenizer; the embedding has more rows
CLEAR_MARGIN = 0.05  # between the two best logits of every greedy choice


def seed_weights(model, seed, exact_f16=False, small_embedding=False):
    """Weights as trained ones: activations keep their size, logits are peaked. With a small embedding a tied head
    does not just repeat its input."""
    generator = torch.Generator().manual_seed(seed)
    normal = lambda shape: torch.randn(shape, generator=generator, dtype=torch.float64)
    for name, weight in model.state_dict().items():
        if "inv_freq" in name or not weight.is_floating_point():
            continue
        shape = weight.shape
        if "norm" in name.lower() and name.endswith("weight"):
            value = 1 + 0.3 * normal(shape)
            if small_embedding and name == "model.norm.weight":
                value = 4 * value
        elif len(shape) == 1:
            value = (0.05 if small_embedding else 0.3) * normal(shape)
        elif small_embedding and ("lm_head" in name or "embed" in name):
            value = normal(shape) * 0.2
        elif "lm_head" in name:
            value = normal(shape) * 4 / shape[-1] ** 0.5
        elif "embed" in name:
            value = normal(shape) * 0.5
        elif "conv.conv" in name:
            value = normal(shape) / shape[-1] ** 0.5
        elif name.endswith("gate.weight") and "mlp.gate." in name:
            value = normal(shape) * 2 / shape[-1] ** 0.5
        else:
            value = normal(shape) / shape[-1] ** 0.5
        # Few bits, so that the files pack well; exact in every float type.
        value = value.to(torch.bfloat16)
        weight.copy_((value.to(torch.float16) if exact_f16 else value).to(weight.dtype))
    if hasattr(model, "tie_weights"):
        model.tie_weights()


def write_tokenizer(folder):
    """One id a byte, a few merges, two control tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {text: i for i, text in enumerate(alphabet)}
    merges = [("t", "h"), ("th", "e"), ("a", "n"), ("i", "n"), ("o", "n"), ("e", "r"), ("o", "u"),
              ("Ġ", "the"), ("r", "e"), ("s", "t"), ("an", "d"), ("in", "g"), ("Ġ", "a"),
              ("e", "n"), ("a", "t"), ("e", "s"), ("o", "r"), ("i", "s"), ("i", "t"), ("l", "l"),
              ("a", "r")]
    for a, b in merges:
        vocab[a + b] = len(vocab)
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    for text in ("<|endoftext|>", "<|im_start|>", "<|im_end|>"):
        tokenizer.add_special_tokens([text])
    assert tokenizer.get_vocab_size() == TOKENS, tokenizer.get_vocab_size()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<|im_end|>",
        "model_max_length": 2048,
        "chat_template": "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
        "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1) + "\n")
    return merges


@torch.no_grad()
def expected(model, vocab):
    generator = numpy.random.default_rng(7)
    ids = generator.integers(0, min(vocab, TOKENS - 3), LENGTH).astype(numpy.int32)
    kept = []
    core = model.model
    keep = lambda module, args, output: kept.append(
        (output[0] if isinstance(output, tuple) else output)[0, ROWS].numpy().astype(numpy.float32)
    )
    hooks = [core.embed_tokens.register_forward_hook(keep)]
    hooks += [layer.register_forward_hook(keep) for layer in core.layers]
    logits = model(torch.tensor(ids[None].astype(numpy.int64)), use_cache=False).logits[0]
    for hook in hooks:
        hook.remove()
    prompt = ids[:PROMPT].tolist()
    greedy = list(prompt)
    margin = float("inf")
    for _ in range(GREEDY):
        last = model(torch.tensor([greedy]), use_cache=False).logits[0, -1]
        best = last.topk(2).values
        margin = min(margin, float(best[0] - best[1]))
        greedy.append(int(last.argmax()))
    return {
        "ids": ids,
        "rows": numpy.array(ROWS, dtype=numpy.int32),
        "hidden": numpy.stack(kept),
        "logits": logits[ROWS].numpy().astype(numpy.float32),
        "prompt": numpy.array(prompt, dtype=numpy.int32),
        "greedy": numpy.array(greedy[PROMPT:], dtype=numpy.int32),
    }, margin


def make(family, variant, spec):
    folder = ROOT / "golden" / family / variant
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    config = spec["config"]()
    torch.manual_seed(0)
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    margin, seed, varied = 0, spec["seed"], 0
    while margin < CLEAR_MARGIN or varied < spec.get("varied", 1):
        with torch.no_grad():
            seed_weights(model, seed, spec.get("exact_f16", False), spec.get("small_embedding", False))
        values, margin = expected(model, config.vocab_size)
        varied = len(set(values["greedy"].tolist()))
        seed += 100
    stored = model.to(getattr(torch, spec.get("dtype", "float32")))
    stored.save_pretrained(folder, max_shard_size=spec.get("shard_size", "1GB"))
    merges = write_tokenizer(folder)
    save_file(values, str(folder / "expected.safetensors"))
    tiny_gguf.write(folder, config, merges, spec)
    for path in folder.iterdir():
        path.chmod(0o644)
    size = sum(path.stat().st_size for path in folder.iterdir())
    logits = values["logits"]
    print(f"{family}/{variant}: {size / 1e6:.2f} MB, logits ±{abs(logits).max():.1f}, "
          f"smallest greedy margin {margin:.4f}", file=sys.stderr)


def main(wanted) -> int:
    for family, variants in VARIANTS.items():
        for variant, spec in variants.items():
            if not wanted or family in wanted or f"{family}/{variant}" in wanted:
                make(family, variant, spec)
    return 0
