"""The configurations of the tiny checkpoints: between them every switch that a family has.

Of a variant: seed, config; if it is not one F32 file, dtype (of the safetensors file), shard_size (of each of several
safetensors files), split_tensors (of each of several GGUF files); and of its weights exact_f16 (f16 holds them too),
small_embedding (a tied head says more than its input), varied (different greedy ids at least).
"""

import transformers

COMMON = dict(vocab_size=288, eos_token_id=279, bos_token_id=277, pad_token_id=277,
              max_position_embeddings=2048)


def llama(**extra):
    return lambda: transformers.LlamaConfig(**{
        **COMMON, "hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 3,
        "num_attention_heads": 3, "num_key_value_heads": 1, "rms_norm_eps": 1e-5,
        "tie_word_embeddings": False, **extra})


def qwen2(**extra):
    return lambda: transformers.Qwen2Config(**{
        **COMMON, "hidden_size": 112, "intermediate_size": 96, "num_hidden_layers": 2,
        "num_attention_heads": 7, "num_key_value_heads": 1, "rms_norm_eps": 1e-6,
        "use_sliding_window": False, "sliding_window": 32, "max_window_layers": 1, **extra})


def qwen3(**extra):
    return lambda: transformers.Qwen3Config(**{
        **COMMON, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 24,
        "rms_norm_eps": 1e-6, **extra})


def lfm2(**extra):
    return lambda: transformers.Lfm2Config(**{
        **COMMON, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 5,
        "num_attention_heads": 4, "num_key_value_heads": 2, "norm_eps": 1e-5,
        "block_auto_adjust_ff_dim": False, "conv_L_cache": 4,
        "layer_types": ["conv", "conv", "full_attention", "conv", "full_attention"], **extra})


def olmoe(**extra):
    return lambda: transformers.OlmoeConfig(**{
        **COMMON, "hidden_size": 32, "intermediate_size": 16, "num_hidden_layers": 2,
        "num_attention_heads": 2, "num_key_value_heads": 2, "num_experts": 64,
        "num_experts_per_tok": 8, "rms_norm_eps": 1e-5, **extra})


VARIANTS = {
    "llama": {
        "gqa": {"seed": 1, "config": llama()},
        "bias": {"seed": 2, "config": llama(
            attention_bias=True, tie_word_embeddings=True, num_attention_heads=2,
            num_key_value_heads=2, hidden_size=32,
            rope_parameters={"rope_type": "linear", "factor": 4.0, "rope_theta": 10000.0})},
        "llama3": {"seed": 3, "config": llama(
            hidden_size=64, num_attention_heads=2, num_key_value_heads=1, num_hidden_layers=2,
            rope_parameters={"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                             "high_freq_factor": 4.0, "original_max_position_embeddings": 128,
                             "rope_theta": 500000.0})},
        "yarn": {"seed": 4, "config": llama(
            hidden_size=64, num_attention_heads=2, num_key_value_heads=1, num_hidden_layers=2,
            rope_parameters={"rope_type": "yarn", "factor": 8.0,
                             "original_max_position_embeddings": 256, "rope_theta": 10000.0})},
    },
    "qwen2": {
        "tied": {"seed": 5, "config": qwen2(tie_word_embeddings=True)},
        "sharded": {"seed": 11, "dtype": "bfloat16", "shard_size": "50KB", "split_tensors": 9, "config": qwen2(
            tie_word_embeddings=False, hidden_size=64, num_attention_heads=4, num_key_value_heads=4,
            rope_parameters={"rope_type": "yarn", "factor": 4.0,
                             "original_max_position_embeddings": 512, "rope_theta": 1000000.0})},
    },
    "qwen3": {
        "wide": {"seed": 6, "config": qwen3(tie_word_embeddings=False)},
        "tied": {"seed": 7, "config": qwen3(tie_word_embeddings=True, num_hidden_layers=2,
                                            attention_bias=True)},
    },
    "lfm2": {
        "mixed": {"seed": 8, "config": lfm2()},
        "untied": {"seed": 12, "dtype": "bfloat16", "config": lfm2(
            tie_word_embeddings=False, conv_L_cache=3, conv_bias=True, num_hidden_layers=3,
            num_attention_heads=3, num_key_value_heads=1, hidden_size=48, block_auto_adjust_ff_dim=True,
            block_multiple_of=32, intermediate_size=110, layer_types=["conv", "full_attention", "conv"])},
    },
    "olmoe": {
        "top8": {"seed": 9, "config": olmoe()},
        "normed": {"seed": 10, "config": olmoe(norm_topk_prob=True, num_experts=12,
                                               num_experts_per_tok=3)},
        "tied": {"seed": 13, "dtype": "float16", "shard_size": "40KB", "exact_f16": True, "small_embedding": True,
                 "varied": 6, "config": olmoe(
            tie_word_embeddings=True, attention_bias=True, hidden_size=48, num_attention_heads=3,
            num_key_value_heads=1, num_experts=12, num_experts_per_tok=4)},
    },
}
