#!/usr/bin/env python3
"""The real MiniLM as a GGUF file, laid out as published ones are, against the folder it is made of: the 200 texts of
golden/minilm must give the same vectors bit by bit, those apart that the folder cuts at 256 tokens (a GGUF file knows
only the model's own 512).

    check_bert_gguf.py MUMMU_BINARY FOLDER

FOLDER takes the file, 91 MB, and is left empty; needs what tool/python.sh brings, and the fixtures.
"""

import json
import os
import pathlib
import subprocess
import sys

import gguf
import numpy
from safetensors.numpy import load_file

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
MODEL = pathlib.Path(os.environ.get("MUMMU_FIXTURES", CACHE / "mummu" / "fixtures")) / "all-MiniLM-L6-v2"
ABSENT = ("embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias")


def add_sizes(writer, config):
    writer.add_name("all MiniLM L6 v2")
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_token_type_count(config["type_vocab_size"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)


def add_vocabulary(writer):
    """A piece that begins a word has a mark before it, one that goes on has lost its ##."""
    tokenizer = json.loads((MODEL / "tokenizer.json").read_text())
    special = {token["content"] for token in tokenizer["added_tokens"] if token["special"]}
    vocabulary = tokenizer["model"]["vocab"]
    texts = sorted(vocabulary, key=vocabulary.get)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("jina-v2-en")
    writer.add_token_list([
        text if text in special else text[2:] if text.startswith("##") else "\u2581" + text for text in texts])
    writer.add_token_types([
        gguf.TokenType.CONTROL if text in special else gguf.TokenType.NORMAL for text in texts])
    writer.add_bos_token_id(vocabulary["[CLS]"])
    writer.add_unk_token_id(vocabulary["[UNK]"])
    writer.add_sep_token_id(vocabulary["[SEP]"])
    writer.add_pad_token_id(vocabulary["[PAD]"])
    writer.add_mask_token_id(vocabulary["[MASK]"])


def write(path):
    config = json.loads((MODEL / "config.json").read_text())
    writer = gguf.GGUFWriter(str(path), "bert")
    add_sizes(writer, config)
    add_vocabulary(writer)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, config["num_hidden_layers"])
    for name, weight in load_file(MODEL / "model.safetensors").items():
        if name in ABSENT:
            continue
        stored = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert stored, name
        writer.add_tensor(stored, numpy.ascontiguousarray(weight.astype(numpy.float32)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def embed(mummu, model):
    texts = ROOT / "golden" / "minilm" / "texts.jsonl"
    out = subprocess.run([mummu, "embed", model, "--input", texts, "--json"], check=True, stdout=subprocess.PIPE)
    return numpy.array([item["embedding"] for item in json.loads(out.stdout)["data"]], dtype=numpy.float32)


def main():
    mummu, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "minilm.gguf"
    try:
        write(path)
        theirs, ours = embed(mummu, MODEL), embed(mummu, path)
    finally:
        path.unlink(missing_ok=True)
    whole = load_file(ROOT / "golden" / "minilm" / "expected.safetensors")["tokens"] < 256
    different = int((theirs != ours).any(axis=1)[whole].sum())
    print(f"{whole.sum()} of {len(whole)} texts in whole, {different} give other vectors")
    if different or ours.shape != (200, 384) or whole.sum() < 180:
        sys.exit(1)


main()
