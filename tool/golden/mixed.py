"""A tiny llama whose matrices are of several block types, as a Q4_K_M file mixes them, with what
transformers computes in f32 from the dequantised values: golden/llama/mixed/{model.gguf,
expected.safetensors} (the latter as tiny.py describes it)."""

import pathlib
import shutil
import sys
import tempfile

import gguf
import numpy
import torch
from safetensors.numpy import save_file

from . import tiny, tiny_gguf
from .quantiser import quantise
from .tiny_config import llama

T = gguf.GGMLQuantizationType
TYPES = {
    "token_embd": T.Q6_K, "output": T.Q8_0, "attn_q": T.Q4_K, "attn_k": T.Q5_K, "attn_v": T.Q6_K,
    "attn_output": T.Q5_0, "ffn_gate": T.Q4_K, "ffn_up": T.Q5_1, "ffn_down": T.Q6_K,
}


def qtype_of(stored):
    return TYPES[stored.removesuffix(".weight").split(".")[-1]]


@torch.no_grad()
def main() -> int:
    from transformers import AutoModelForCausalLM

    folder = tiny.ROOT / "golden" / "llama" / "mixed"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    config = llama(hidden_size=256, intermediate_size=256, num_hidden_layers=2,
                   num_attention_heads=4, num_key_value_heads=2)()
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    tiny.seed_weights(model, 21)
    raw = {}  # the bytes of a row of a type, by its type and values
    for name, weight in model.state_dict().items():
        if weight.ndim == 2:
            qtype = qtype_of(names.get_name(name, try_suffixes=(".weight",)))
            stored = quantise(weight.numpy(), qtype)
            values = gguf.quants.dequantize(stored, qtype)
            raw.update({(qtype, v.tobytes()): row for v, row in zip(values, stored)})
            weight.copy_(torch.from_numpy(values.copy()))
    values, margin = tiny.expected(model, config.vocab_size)
    with tempfile.TemporaryDirectory() as temporary:
        temporary = pathlib.Path(temporary)
        model.save_pretrained(temporary)
        merges = tiny.write_tokenizer(temporary)

        def bytes_of(stored, matrix):
            qtype = qtype_of(stored)
            return numpy.stack([raw[qtype, row.tobytes()] for row in matrix]), qtype

        tiny_gguf.write(temporary, config, merges, quantise=bytes_of)
        shutil.move(temporary / "model.gguf", folder / "model.gguf")
    save_file({name: values[name] for name in ("ids", "rows", "hidden", "logits")},
              str(folder / "expected.safetensors"))
    for path in folder.iterdir():
        path.chmod(0o644)
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"llama/mixed: {size / 1e6:.2f} MB, logits ±{abs(values['logits']).max():.1f}", file=sys.stderr)
    return 0
