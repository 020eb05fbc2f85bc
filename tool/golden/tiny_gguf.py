"""The weights of a tiny checkpoint as a GGUF file of F32, named and laid out as the published
conversions do it. Uses PyPI's gguf package for names, keys and the file itself."""

import json
import math

import gguf
import numpy
import torch
from safetensors.torch import load_file


def interleave(weight, heads):
    """q and k of llama: the halves of every head, interleaved."""
    return (weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:])
            .swapaxes(1, 2).reshape(weight.shape))


def llama3_divisors(rope, head_dim):
    """f32 divisors of the frequencies."""
    out = []
    old = rope["original_max_position_embeddings"]
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    for i in range(0, head_dim, 2):
        wavelength = 2 * math.pi * rope["rope_theta"] ** (i / head_dim)
        if wavelength < old / high:
            out.append(1.0)
        elif wavelength > old / low:
            out.append(rope["factor"])
        else:
            smooth = (old / wavelength - low) / (high - low)
            out.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return numpy.array(out, dtype=numpy.float32)


def stack_experts(weights):
    """mlp.experts.N.PART.weight of all N, in numeric order, as one tensor mlp.experts.PART.weight."""
    parts = {}
    for name in [n for n in weights if ".mlp.experts." in n]:
        before, after = name.split(".mlp.experts.")
        number, part = after.split(".", 1)
        parts.setdefault(f"{before}.mlp.experts.{part}", {})[int(number)] = weights.pop(name)
    for name, experts in parts.items():
        weights[name] = numpy.stack([experts[i] for i in range(len(experts))])


def write_tokens(writer, folder, merges):
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    vocab = dict(tokenizer["model"]["vocab"])
    types = {t: gguf.TokenType.NORMAL for t in vocab}
    for token in tokenizer["added_tokens"]:
        vocab[token["content"]] = token["id"]
        types[token["content"]] = gguf.TokenType.CONTROL
    tokens = sorted(vocab, key=vocab.get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([types[t] for t in tokens])
    writer.add_token_merges([f"{a} {b}" for a, b in merges])
    config = json.loads((folder / "tokenizer_config.json").read_text())
    writer.add_bos_token_id(vocab["<|endoftext|>"])
    writer.add_eos_token_id(vocab[config["eos_token"]])
    writer.add_add_bos_token(False)
    writer.add_chat_template(config["chat_template"])


def write_rope(writer, config, head_dim):
    rope = config.rope_parameters
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_dimension_count(head_dim)
    if rope["rope_type"] == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    if rope["rope_type"] == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    if rope["rope_type"] == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_divisors(rope, head_dim))


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_weights(folder):
    weights = {}
    for file in sorted(folder.glob("model*.safetensors")):
        weights |= {name: weight.to(torch.float32).numpy() for name, weight in load_file(str(file)).items()}
    return weights


def ffn_size(config, weights):
    """Of lfm2 what the weights have: the configuration's size may be adjusted."""
    first = weights.get("model.layers.0.feed_forward.w1.weight")
    return config.intermediate_size if first is None else first.shape[0]


def write(folder, config, merges, spec):
    weights = read_weights(folder)
    architecture = config.model_type
    writer = gguf.GGUFWriter(str(folder / "model.gguf"), architecture,
                             split_max_tensors=spec.get("split_tensors", 0))
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_name(f"tiny {architecture}")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(ffn_size(config, weights))
    writer.add_head_count(config.num_attention_heads)
    if architecture == "lfm2":
        writer.add_head_count_kv([config.num_key_value_heads if t == "full_attention" else 0
                                  for t in config.layer_types])
        writer.add_shortconv_l_cache(config.conv_L_cache)
    else:
        writer.add_head_count_kv(config.num_key_value_heads)
    if head_dim * config.num_attention_heads != config.hidden_size or architecture == "qwen3":
        writer.add_key_length(head_dim)
        writer.add_value_length(head_dim)
    writer.add_layer_norm_rms_eps(getattr(config, "rms_norm_eps", None) or config.norm_eps)
    writer.add_vocab_size(config.vocab_size)
    if "pooling" in spec:
        writer.add_pooling_type(spec["pooling"])
        writer.add_add_eos_token(True)
    if architecture == "olmoe":
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
        if config.norm_topk_prob:
            writer.add_expert_weights_norm(True)
    write_rope(writer, config, head_dim)
    write_tokens(writer, folder, merges)

    arch = {name: key for key, name in gguf.MODEL_ARCH_NAMES.items()}[architecture]
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    stack_experts(weights)
    for name, weight in weights.items():
        if architecture == "llama" and ".q_proj." in name:
            weight = interleave(weight, config.num_attention_heads)
        if architecture == "llama" and ".k_proj." in name:
            weight = interleave(weight, config.num_key_value_heads)
        if name.endswith("conv.conv.weight"):
            weight = weight.squeeze(1)
        if not name.startswith(("model.", "lm_head.")):
            name = "model." + name
        stored = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert stored, name
        writer.add_tensor(stored, numpy.ascontiguousarray(weight.astype(numpy.float32)))
    finish(writer)
