"""The default model by transformers: it reads the same GGUF and dequantises it to float32."""

import json
import os
import pathlib
import sys

import numpy
import torch
from safetensors.numpy import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
TOP = 64
POSITIONS = 2048
ANSWER = 192

PROMPTS = [
    "Why is the sea salty?",
    "Explain how a bicycle stays upright, in a few paragraphs.",
    "Write a short story about a lighthouse keeper and a storm.",
    "What is the difference between a virus and a bacterium?",
    "Write a Python function that returns the first n prime numbers.",
    "Give me a recipe for vegetable soup for four people.",
    "Who was Marie Curie and what did she discover?",
    "List ten capitals of Europe with one fact about each.",
    "Explain the water cycle to a child.",
    "Write a polite letter asking a landlord to repair a window.",
    "What are the main causes of the First World War?",
    "Translate into French: The library opens at nine in the morning.",
    "How does a refrigerator work?",
    "Write a poem about autumn leaves.",
    "Explain binary search and give its running time.",
    "Describe a day in the life of a honey bee.",
    "What is photosynthesis and why does it matter?",
    "Give five tips for learning a new language.",
    "Summarise the plot of Romeo and Juliet.",
    "How do vaccines protect people from disease?",
]


def fixture_folder() -> pathlib.Path:
    if "MUMMU_FIXTURES" in os.environ:
        return pathlib.Path(os.environ["MUMMU_FIXTURES"])
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return pathlib.Path(cache) / "mummu" / "fixtures"


def load():
    folder = str(fixture_folder())
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=FILE)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=FILE, dtype=torch.float32)
    return tokenizer, model.eval()


def chat(prompt: str) -> str:
    system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    return (
        f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


@torch.no_grad()
def reference() -> int:
    tokenizer, model = load()
    end = {tokenizer.convert_tokens_to_ids("<|im_end|>"), tokenizer.convert_tokens_to_ids("<|endoftext|>")}
    sequences, first, top_ids, top_logprobs = [], [], [], []
    positions = 0
    for prompt in PROMPTS:
        if positions >= POSITIONS:
            break
        ids = tokenizer(chat(prompt), add_special_tokens=False)["input_ids"]
        start = len(ids) - 1  # the first position whose prediction is an answer's token
        past, feed = None, ids
        for _ in range(ANSWER):
            out = model(torch.tensor([feed]), past_key_values=past, use_cache=True)
            past = out.past_key_values
            token = int(out.logits[0, -1].argmax())
            ids.append(token)
            feed = [token]
            if token in end:
                break
        logits = model(torch.tensor([ids[:-1]])).logits[0, start:].double()
        best = torch.log_softmax(logits, dim=-1).topk(TOP, dim=-1)
        top_ids.append(best.indices.numpy().astype(numpy.int32))
        top_logprobs.append(best.values.numpy().astype(numpy.float32))
        sequences.append(ids[:-1])
        first.append(start)
        positions += len(ids) - 1 - start
        print(f"\r{positions} positions", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    folder = ROOT / "golden" / "smollm2"
    folder.mkdir(parents=True, exist_ok=True)
    save_file(
        {
            "ids": numpy.concatenate([numpy.array(s, dtype=numpy.int32) for s in sequences]),
            "lengths": numpy.array([len(s) for s in sequences], dtype=numpy.int32),
            "first": numpy.array(first, dtype=numpy.int32),
            "top_ids": numpy.concatenate(top_ids),
            "top_logprobs": numpy.concatenate(top_logprobs),
        },
        str(folder / "reference.safetensors"),
        metadata={"model": FILE, "made_by": "transformers, float32 of the dequantised weights"},
    )
    return 0


@torch.no_grad()
def export_f32() -> int:
    """The same dequantised weights as a safetensors folder, and transformers' logits of them."""
    tokenizer, model = load()
    folder = fixture_folder() / "smollm2-f32"
    (folder / "expected").mkdir(parents=True, exist_ok=True)
    weights = {k: v for k, v in model.state_dict().items() if k != "lm_head.weight"}
    save_file({k: v.contiguous().numpy() for k, v in weights.items()}, str(folder / "model.safetensors"))
    config = model.config.to_dict()
    config.pop("quantization_config", None)
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    tokenizer.save_pretrained(folder)
    stored = load_file(str(ROOT / "golden" / "smollm2" / "reference.safetensors"))
    ids = stored["ids"][: int(stored["lengths"][0])]
    logits = model(torch.tensor(ids[None, :].astype(numpy.int64))).logits[0]
    save_file(
        {"ids": ids, "logits": logits.numpy().astype(numpy.float32)},
        str(folder / "expected" / "logits.safetensors"),
    )
    return 0
