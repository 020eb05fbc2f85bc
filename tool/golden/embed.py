"""Tiny embedding models with what transformers and sentence-transformers compute of them.

golden/bert/VARIANT/ and golden/qwen3/embed/ then hold a folder of sentence-transformers, the same
weights as model.gguf, texts.jsonl (one JSON string a line) and expected.safetensors:
    ids           (n)                 one sequence of an encoder; shorter ones are its beginnings
    lengths       (m)
    rows_L        (r)                 positions of length L whose values are stored
    hidden_L      (layers + 1, r, hidden)    after the embedding and after every layer
    pooled        (m, 6, hidden)      cls, lasttoken, max, mean, mean_sqrt_len_tokens, weightedmean
    vectors       (texts, hidden)     of the texts, as sentence-transformers makes them
    prompted      (texts, hidden)     the same with the prompt "query"
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile

import gguf
import numpy
import torch
import transformers
from safetensors.numpy import load_file, save_file

from . import bert_gguf, tiny, tiny_gguf

ROOT = pathlib.Path(__file__).resolve().parents[2]
LENGTHS = [1, 2, 15, 16, 17, 31, 33, 511, 512, 513, 600]
MODES = ["cls", "lasttoken", "max", "mean", "mean_sqrt_len_tokens", "weightedmean"]
WORDS = ("the a an and of in to is on it sea salt water river stone why how old new house tree bird "
         "sing fish light night day rain").split()
TEXTS = [
    "Why is the sea salty?",
    "Rivers carry salt from stone to the sea, and it stays there.",
    "The old house in the rain.",
    "",
    "a",
    "An OLD tree, a NEW bird; day & night!",
    "naïve café – déjà vu",
    "海水 is salty",
    "fish " * 40,
    "how " * 9 + "light",
    "The bird sings. " * 60,
    "1 2 3, 45 (67)",
    "   spaces\tand\nlines   ",
    "zzz zzzzzzzzzzzzzzzzzzzzzzzzzz qqq",
]
PROMPTS = {"query": "Find what answers: ", "document": ""}


def word_pieces():
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)] + list("0123456789")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces += list("!&(),-.;?–") + letters + ["##" + c for c in letters] + ["海", "水"]
    return pieces + WORDS[3:] + ["##ing", "##ty"]


def write_bert_tokenizer(folder):
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    vocab = {text: i for i, text in enumerate(dict.fromkeys(word_pieces()))}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    # A length that the model's own files overrule.
    tokenizer.enable_truncation(20)
    tokenizer.save(str(folder / "tokenizer.json"))
    dump(folder / "tokenizer_config.json", {
        "tokenizer_class": "PreTrainedTokenizerFast", "cls_token": "[CLS]", "sep_token": "[SEP]",
        "pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]",
        "model_max_length": 512})
    return vocab


def dump(path, value):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_modules(folder, hidden, pooling, normalise, max_seq_length, config):
    names = ["Transformer", "Pooling"] + (["Normalize"] if normalise else [])
    dump(folder / "modules.json", [
        {"idx": i, "name": str(i), "path": "" if i == 0 else f"{i}_{name}",
         "type": f"sentence_transformers.models.{name}"} for i, name in enumerate(names)])
    dump(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": hidden, **pooling})
    if max_seq_length:
        dump(folder / "sentence_bert_config.json",
             {"max_seq_length": max_seq_length, "do_lower_case": False})
    dump(folder / "config_sentence_transformers.json", config)


@torch.no_grad()
def layer_values(model, vocab):
    from sentence_transformers.models import Pooling

    generator = numpy.random.default_rng(11)
    ids = generator.integers(5, vocab, max(LENGTHS)).astype(numpy.int32)
    values = {"ids": ids, "lengths": numpy.array(LENGTHS, dtype=numpy.int32)}
    pooled = []
    for length in LENGTHS:
        rows = sorted({0, 1 % length, length // 2, max(0, length - 2), length - 1})
        out = model(torch.tensor(ids[None, :length].astype(numpy.int64)),
                    attention_mask=torch.ones(1, length, dtype=torch.int64),
                    output_hidden_states=True)
        values[f"rows_{length}"] = numpy.array(rows, dtype=numpy.int32)
        values[f"hidden_{length}"] = numpy.stack(
            [h[0, rows].numpy().astype(numpy.float32) for h in out.hidden_states])
        tokens = out.last_hidden_state
        mask = torch.ones(1, length, dtype=torch.int64)
        pooled.append(torch.stack([
            Pooling(tokens.shape[-1], pooling_mode=mode)(
                {"token_embeddings": tokens, "attention_mask": mask})["sentence_embedding"][0]
            for mode in MODES]).numpy())
    values["pooled"] = numpy.stack(pooled).astype(numpy.float32)
    return values


def encode_all(folder):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    plain = [model.encode(text) for text in TEXTS]
    asked = [model.encode(text, prompt_name="query") for text in TEXTS]
    return {"vectors": numpy.stack(plain), "prompted": numpy.stack(asked)}


def finish(folder, values):
    with open(folder / "texts.jsonl", "w", encoding="utf-8") as out:
        for text in TEXTS:
            out.write(json.dumps(text, ensure_ascii=False) + "\n")
    save_file(values, str(folder / "expected.safetensors"))
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    size = sum(path.stat().st_size for path in folder.rglob("*"))
    print(f"{folder.relative_to(ROOT)}: {size / 1e6:.2f} MB", file=sys.stderr)


def clean(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def bert(variant, kind, sizes, seed, pooling, gguf_pooling, normalise, max_seq_length, config):
    folder = ROOT / "golden" / "bert" / variant
    clean(folder)
    vocab = write_bert_tokenizer(folder)
    bert_config = transformers.BertConfig(
        vocab_size=len(vocab) + 3, max_position_embeddings=640, type_vocab_size=2,
        pad_token_id=0, **sizes)
    model = kind(bert_config).eval()
    with torch.no_grad():
        tiny.seed_weights(model, seed)
    model.save_pretrained(folder)
    values = layer_values(getattr(model, "bert", model), len(vocab))
    write_modules(folder, bert_config.hidden_size, pooling, normalise, max_seq_length, config)
    values |= encode_all(folder)
    bert_gguf.write(folder, folder / "model.gguf", "tiny bert", gguf_pooling)
    finish(folder, values)


def decoder():
    from tokenizers import Tokenizer, pre_tokenizers, processors

    folder = ROOT / "golden" / "qwen3" / "embed"
    clean(folder)
    config = transformers.Qwen3Config(
        vocab_size=288, eos_token_id=277, pad_token_id=277, max_position_embeddings=2048,
        hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=24, rms_norm_eps=1e-6, use_sliding_window=False,
        tie_word_embeddings=False)
    model = transformers.Qwen3Model(config).eval()
    with torch.no_grad():
        tiny.seed_weights(model, 31)
    model.save_pretrained(folder)
    merges = tiny.write_tokenizer(folder)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    end = tokenizer.token_to_id("<|endoftext|>")
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="$A <|endoftext|>",
                                      special_tokens=[("<|endoftext|>", end)])])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings |= {"eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>", "model_max_length": 700}
    dump(folder / "tokenizer_config.json", settings)
    write_modules(folder, config.hidden_size,
                  {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": False,
                   "pooling_mode_lasttoken": True, "include_prompt": True},
                  True, None, {"prompts": PROMPTS, "default_prompt_name": None,
                               "similarity_fn_name": "cosine"})
    values = encode_all(folder)
    tiny_gguf.write(folder, config, merges, {"pooling": gguf.PoolingType.LAST})
    finish(folder, values)


def minilm():
    """The real model on golden/minilm/texts.jsonl: vectors (200, 384) and token counts."""
    from sentence_transformers import SentenceTransformer

    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    fixtures = pathlib.Path(os.environ.get("MUMMU_FIXTURES", cache / "mummu" / "fixtures"))
    folder = ROOT / "golden" / "minilm"
    lines = (folder / "texts.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line) for line in lines]
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(fixtures / "all-MiniLM-L6-v2", copy, dirs_exist_ok=True)
        model = SentenceTransformer(copy, device="cpu", local_files_only=True)
        vectors = numpy.stack([model.encode(text) for text in texts])
        tokens = [int(model.tokenize([text])["attention_mask"].sum()) for text in texts]
    save_file({"vectors": vectors, "tokens": numpy.array(tokens, dtype=numpy.int32)},
              str(folder / "expected.safetensors"))
    (folder / "expected.safetensors").chmod(0o644)
    print(f"golden/minilm: {len(texts)} texts, {sorted(tokens)[-8:]} tokens at most",
          file=sys.stderr)


def main(which) -> int:
    transformers.logging.set_verbosity_error()
    if not which or "bert" in which:
        bert("mean", transformers.BertModel,
             dict(hidden_size=48, intermediate_size=96, num_hidden_layers=3,
                  num_attention_heads=3), 21,
             {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True},
             gguf.PoolingType.MEAN, True, 100,
             {"__version__": {"sentence_transformers": "2.0.0"}})
        bert("whole", transformers.BertForPreTraining,
             dict(hidden_size=40, intermediate_size=72, num_hidden_layers=2,
                  num_attention_heads=2), 22,
             {"pooling_mode": "cls", "include_prompt": True},
             gguf.PoolingType.CLS, False, None,
             {"prompts": PROMPTS, "default_prompt_name": None})
    if not which or "decoder" in which:
        decoder()
    if not which or "minilm" in which:
        minilm()
    return 0
