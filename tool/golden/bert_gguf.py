"""A folder of an encoder (config.json, tokenizer.json, model.safetensors) as a GGUF file of F32, named and laid out as the
published conversions do it. Uses PyPI's gguf package for names, keys and the file itself."""

import json

import gguf
import numpy
from safetensors.numpy import load_file

UNUSED = ("pooler.", "cls.")


def write_tokens(writer, folder):
    """A piece that begins a word has a mark before it, one that goes on has lost its ##."""
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    special = {token["content"] for token in tokenizer["added_tokens"] if token["special"]}
    vocab = tokenizer["model"]["vocab"]
    texts = sorted(vocab, key=vocab.get)
    writer.add_token_list([
        text if text in special else text[2:] if text.startswith("##") else "▁" + text for text in texts])
    writer.add_token_types([
        gguf.TokenType.CONTROL if text in special else gguf.TokenType.NORMAL for text in texts])
    return vocab


def write(folder, path, title, pooling, pre=None):
    config = json.loads((folder / "config.json").read_text())
    writer = gguf.GGUFWriter(str(path), "bert")
    writer.add_name(title)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(pooling)
    writer.add_tokenizer_model("bert")
    if pre:
        writer.add_tokenizer_pre(pre)
    vocab = write_tokens(writer, folder)
    writer.add_token_type_count(config["type_vocab_size"])
    writer.add_unk_token_id(vocab["[UNK]"])
    writer.add_sep_token_id(vocab["[SEP]"])
    writer.add_pad_token_id(vocab["[PAD]"])
    writer.add_mask_token_id(vocab["[MASK]"])
    writer.add_bos_token_id(vocab["[CLS]"])
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, config["num_hidden_layers"])
    for name, weight in load_file(str(folder / "model.safetensors")).items():
        name = name.removeprefix("bert.")
        if name.startswith(UNUSED) or name.endswith("position_ids"):
            continue
        stored = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert stored, name
        writer.add_tensor(stored, numpy.ascontiguousarray(weight.astype(numpy.float32)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
