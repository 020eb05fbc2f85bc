#!/usr/bin/env python3
"""Writes the seeds of plan_fuzz: for every family the smallest checkpoint that loads, as config.json + zero byte +
safetensors, and as GGUF."""

import json

from make_file_seeds import ARRAY, BOOL, FLOAT32, INT32, STRING, UINT32, gguf, safetensors, write

HIDDEN, HEADS, HEAD_DIM, FFN, VOCAB, CONTEXT = 4, 2, 2, 4, 5, 32
TOKENS = ["a", "b", "ab", "c", "<|end|>"]


def attention(prefix, names, bias=False, norm=None, output="o_proj"):
    out = {}
    for part in ("q_proj", "k_proj", "v_proj", output):
        out[f"{prefix}self_attn.{part}.weight"] = (HIDDEN, HIDDEN)
        if bias and part != output:
            out[f"{prefix}self_attn.{part}.bias"] = (HIDDEN,)
    for part in names:
        out[f"{prefix}self_attn.{part}.weight"] = (norm,)
    return out


def layer(family, i):
    at = f"model.layers.{i}."
    if family == "lfm2":
        out = {at + "operator_norm.weight": (HIDDEN,), at + "ffn_norm.weight": (HIDDEN,)}
        for part in ("w1", "w2", "w3"):
            out[f"{at}feed_forward.{part}.weight"] = (FFN, HIDDEN)
        if i == 1:
            return out | attention(at, ("q_layernorm", "k_layernorm"), norm=HEAD_DIM, output="out_proj")
        return out | {at + "conv.in_proj.weight": (3 * HIDDEN, HIDDEN), at + "conv.conv.weight": (HIDDEN, 1, 3),
                      at + "conv.out_proj.weight": (HIDDEN, HIDDEN)}
    out = {at + "input_layernorm.weight": (HIDDEN,), at + "post_attention_layernorm.weight": (HIDDEN,)}
    norms = {"qwen3": HEAD_DIM, "olmoe": HIDDEN}.get(family)
    out |= attention(at, ("q_norm", "k_norm") if norms else (), family == "qwen2", norms)
    if family == "olmoe":
        out[at + "mlp.gate.weight"] = (2, HIDDEN)
    for before in ("experts.0.", "experts.1.") if family == "olmoe" else ("",):
        for part in ("gate_proj", "up_proj", "down_proj"):
            out[f"{at}mlp.{before}{part}.weight"] = (FFN, HIDDEN)
    return out


def checkpoint(family):
    config = {"model_type": family, "hidden_size": HIDDEN, "intermediate_size": FFN, "num_hidden_layers": 2,
              "num_attention_heads": HEADS, "num_key_value_heads": HEADS, "head_dim": HEAD_DIM, "vocab_size": VOCAB,
              "max_position_embeddings": CONTEXT, "rms_norm_eps": 1e-5, "eos_token_id": [4], "hidden_act": "silu"}
    rope = {"llama": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                      "original_max_position_embeddings": 8, "rope_theta": 500000.0},
            "qwen2": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8},
            "qwen3": {"type": "linear", "factor": 2.0}}.get(family)
    if rope:
        config["rope_parameters" if "rope_theta" in rope else "rope_scaling"] = rope
    if family == "lfm2":
        config |= {"layer_types": ["conv", "full_attention"], "conv_L_cache": 3, "block_auto_adjust_ff_dim": False}
    if family == "olmoe":
        config |= {"num_experts": 2, "num_experts_per_tok": 1, "norm_topk_prob": True}
    if family.startswith("qwen"):
        config |= {"use_sliding_window": False, "sliding_window": 8, "max_window_layers": 1}
    last = "model.embedding_norm.weight" if family == "lfm2" else "model.norm.weight"
    tensors = {"model.embed_tokens.weight": (VOCAB, HIDDEN), last: (HIDDEN,)}
    for i in range(2):
        tensors |= layer(family, i)
    if family != "lfm2":
        tensors["lm_head.weight"] = (VOCAB, HIDDEN)
    return config, tensors


def encoder_layer(i):
    at, out = f"encoder.layer.{i}.", {}
    for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
        out |= {f"{at}{part}.weight": (HIDDEN, HIDDEN), f"{at}{part}.bias": (HIDDEN,)}
    out |= {at + "intermediate.dense.weight": (FFN, HIDDEN), at + "intermediate.dense.bias": (FFN,),
            at + "output.dense.weight": (HIDDEN, FFN), at + "output.dense.bias": (HIDDEN,)}
    for part in ("attention.output", "output"):
        out |= {f"{at}{part}.LayerNorm.weight": (HIDDEN,), f"{at}{part}.LayerNorm.bias": (HIDDEN,)}
    return out


def encoder():
    config = {"model_type": "bert", "hidden_size": HIDDEN, "intermediate_size": FFN, "num_hidden_layers": 2,
              "num_attention_heads": HEADS, "vocab_size": VOCAB, "max_position_embeddings": 8, "type_vocab_size": 2,
              "layer_norm_eps": 1e-12, "hidden_act": "gelu", "position_embedding_type": "absolute",
              "is_decoder": False}
    tensors = {"embeddings.word_embeddings.weight": (VOCAB, HIDDEN),
               "embeddings.position_embeddings.weight": (8, HIDDEN),
               "embeddings.token_type_embeddings.weight": (2, HIDDEN),
               "embeddings.LayerNorm.weight": (HIDDEN,), "embeddings.LayerNorm.bias": (HIDDEN,)}
    for i in range(2):
        tensors |= encoder_layer(i)
    return config, tensors | {"pooler.dense.weight": (HIDDEN, HIDDEN), "pooler.dense.bias": (HIDDEN,)}


def bytes_of(shape):
    """BF16 numbers that differ, all between 0.5 and 2."""
    count = 1
    for n in shape:
        count *= n
    return b"".join(bytes([(7 * i) % 256, 0x3F]) for i in range(count))


def folder(config, tensors):
    header, data = {}, b""
    for name, shape in tensors.items():
        more = bytes_of(shape)
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [len(data), len(data) + len(more)]}
        data += more
    return json.dumps(config).encode() + b"\0" + safetensors(header, data)


GGUF_NAMES = [("model.embed_tokens", "token_embd"), ("model.embedding_norm", "token_embd_norm"),
              ("model.norm", "output_norm"), ("lm_head", "output"), ("model.layers", "blk"),
              ("self_attn.q_proj", "attn_q"), ("self_attn.k_proj", "attn_k"), ("self_attn.v_proj", "attn_v"),
              ("self_attn.o_proj", "attn_output"), ("self_attn.out_proj", "attn_output"),
              ("self_attn.q_layernorm", "attn_q_norm"), ("self_attn.k_layernorm", "attn_k_norm"),
              ("self_attn.q_norm", "attn_q_norm"), ("self_attn.k_norm", "attn_k_norm"),
              ("input_layernorm", "attn_norm"), ("post_attention_layernorm", "ffn_norm"), ("operator_norm", "attn_norm"),
              ("feed_forward.w1", "ffn_gate"), ("feed_forward.w2", "ffn_down"), ("feed_forward.w3", "ffn_up"),
              ("mlp.gate_proj", "ffn_gate"), ("mlp.up_proj", "ffn_up"), ("mlp.down_proj", "ffn_down"),
              ("mlp.gate.", "ffn_gate_inp."), ("conv.in_proj", "shortconv.in_proj"), ("conv.conv", "shortconv.conv"),
              ("conv.out_proj", "shortconv.out_proj"), ("mlp.experts.0.gate_proj", "ffn_gate_exps"),
              ("mlp.experts.0.up_proj", "ffn_up_exps"), ("mlp.experts.0.down_proj", "ffn_down_exps"),
              ("embeddings.word_embeddings", "token_embd"), ("embeddings.position_embeddings", "position_embd"),
              ("embeddings.token_type_embeddings", "token_types"), ("embeddings.LayerNorm", "token_embd_norm"),
              ("encoder.layer", "blk"), ("attention.self.query", "attn_q"), ("attention.self.key", "attn_k"),
              ("attention.self.value", "attn_v"), ("attention.output.dense", "attn_output"),
              ("attention.output.LayerNorm", "attn_output_norm"), ("intermediate.dense", "ffn_up"),
              ("output.dense", "ffn_down"), ("output.LayerNorm", "layer_output_norm")]


def gguf_tensors(tensors):
    out = []
    for name, shape in tensors.items():
        if "experts.1." in name or name.startswith("pooler."):
            continue
        if "experts.0." in name:
            shape = (2, *shape)
        for theirs, ours in GGUF_NAMES:
            name = name.replace(theirs, ours)
        shape = [n for n in shape if n != 1]
        out.append((name, tuple(reversed(shape)), 30, bytes_of(shape)))  # 30: BF16
    return out


def gguf_keys(family, config):
    at = family + "."
    keys = [("general.architecture", STRING, family), (at + "block_count", UINT32, 2),
            (at + "context_length", UINT32, CONTEXT), (at + "embedding_length", UINT32, HIDDEN),
            (at + "feed_forward_length", UINT32, FFN), (at + "attention.head_count", UINT32, HEADS),
            (at + "attention.key_length", UINT32, HEAD_DIM), (at + "attention.value_length", UINT32, HEAD_DIM),
            (at + "attention.layer_norm_rms_epsilon", FLOAT32, 1e-5), (at + "rope.freq_base", FLOAT32, 10000.0)]
    kv = ((ARRAY, (INT32, [0, HEADS])) if family == "lfm2" else (UINT32, HEADS))
    keys.append((at + "attention.head_count_kv", *kv))
    if family == "lfm2":
        keys.append((at + "shortconv.l_cache", UINT32, 3))
    if family == "olmoe":
        keys += [(at + "expert_count", UINT32, 2), (at + "expert_used_count", UINT32, 1),
                 (at + "expert_weights_norm", BOOL, True)]
    if family == "qwen2":
        keys += [(at + "rope.scaling.type", STRING, "yarn"), (at + "rope.scaling.factor", FLOAT32, 4.0),
                 (at + "rope.scaling.original_context_length", UINT32, 8)]
    return keys + [("tokenizer.ggml.model", STRING, "gpt2"), ("tokenizer.ggml.pre", STRING, "gpt-2"),
                   ("tokenizer.ggml.tokens", ARRAY, (STRING, TOKENS)),
                   ("tokenizer.ggml.token_type", ARRAY, (INT32, [1, 1, 1, 1, 3])),
                   ("tokenizer.ggml.merges", ARRAY, (STRING, ["a b"])), ("tokenizer.ggml.eos_token_id", UINT32, 4)]


def encoder_keys():
    return [("general.architecture", STRING, "bert"), ("bert.block_count", UINT32, 2),
            ("bert.context_length", UINT32, 8), ("bert.embedding_length", UINT32, HIDDEN),
            ("bert.feed_forward_length", UINT32, FFN), ("bert.attention.head_count", UINT32, HEADS),
            ("bert.attention.layer_norm_epsilon", FLOAT32, 1e-12), ("bert.attention.causal", BOOL, False),
            ("bert.pooling_type", UINT32, 1), ("tokenizer.ggml.model", STRING, "bert"),
            ("tokenizer.ggml.pre", STRING, "default"), ("tokenizer.ggml.token_type_count", UINT32, 2),
            ("tokenizer.ggml.tokens", ARRAY, (STRING, ["[UNK]", "[CLS]", "[SEP]", "\u2581a", "b"])),
            ("tokenizer.ggml.token_type", ARRAY, (INT32, [3, 3, 3, 1, 1])),
            ("tokenizer.ggml.unknown_token_id", UINT32, 0), ("tokenizer.ggml.cls_token_id", UINT32, 1),
            ("tokenizer.ggml.seperator_token_id", UINT32, 2)]


for family in ("llama", "qwen2", "qwen3", "lfm2", "olmoe"):
    config, tensors = checkpoint(family)
    write("plan_fuzz", family + ".folder", folder(config, tensors))
    write("plan_fuzz", family + ".gguf", gguf(gguf_keys(family, config), gguf_tensors(tensors)))
config, tensors = encoder()
write("plan_fuzz", "bert.folder", folder(config, tensors))
write("plan_fuzz", "bert.gguf", gguf(encoder_keys(), gguf_tensors(tensors)))
