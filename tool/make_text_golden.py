#!/usr/bin/env python3
"""Writes golden/text/ids/: what the Python package tokenizers makes of every line of golden/text/corpus/.

    tool/make_text_golden.py            with tokenizers and gguf installed and the fixtures fetched

A corpus is one JSON string a line; anyone may add one and run this again. The small tokenizers in
golden/text/json/ (one for each group of components) are trained here when they are missing, from the corpora.
"""

import json
import os
import pathlib
import sys

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, decoders, trainers
from tokenizers import AddedToken, Regex

import text_reference

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden/text"
FIXTURES = pathlib.Path(os.environ.get("MUMMU_FIXTURES", os.path.expanduser("~/.cache/mummu/fixtures")))
MODELS = {"smollm2": "SmolLM2-135M-Instruct.Q4_1.gguf", "minilm": "all-MiniLM-L6-v2"}
for vocab in ("qwen2 qwen35 llama-bpe llama-spm phi-3 gpt-2 bert-bge starcoder refact command-r mpt falcon "
              "deepseek-coder deepseek-llm baichuan").split():
    MODELS[vocab] = f"vocab/ggml-vocab-{vocab}.gguf"

O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
TIKTOKEN = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|"
            r"\s*[\r\n]|\s+(?!\S)|\s+")
SPECIAL = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"]
BYTE_TOKENS = [f"<0x{i:02X}>" for i in range(256)]


def lines():
    for path in sorted((GOLDEN / "corpus").glob("*.jsonl")):
        for line in path.read_bytes().decode().rstrip("\n").split("\n"):
            yield json.loads(line)


def bpe(pre, alphabet=(), size=420, unknown=None, **options):
    tokenizer = Tokenizer(models.BPE(unk_token=unknown, **options))
    tokenizer.pre_tokenizer = pre
    trainer_options = {"end_of_word_suffix": options["end_of_word_suffix"]} if "end_of_word_suffix" in options else {}
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=SPECIAL, initial_alphabet=list(alphabet),
                                  limit_alphabet=300, show_progress=False, **trainer_options)
    return tokenizer, trainer


def byte_level(pre, **options):
    tokenizer, trainer = bpe(pre, pre_tokenizers.ByteLevel.alphabet(), **options)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, trainer


def word_piece(pre):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer, trainers.WordPieceTrainer(
        vocab_size=400, limit_alphabet=150, show_progress=False,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])


def unigram(pre, extra=()):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre
    return tokenizer, trainers.UnigramTrainer(vocab_size=300 + len(extra), unk_token="<unk>", show_progress=False,
                                              special_tokens=SPECIAL + list(extra))


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(pattern, behavior, invert)


def with_bytes(*steps):
    return pre_tokenizers.Sequence([*steps, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def roberta():
    tokenizer, trainer = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True))
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 1))
    return tokenizer, trainer


def sentence_piece():
    tokenizer, trainer = bpe(None, BYTE_TOKENS[:0], size=400, unknown="<unk>", fuse_unk=True, byte_fallback=True)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    trainer.special_tokens = [*trainer.special_tokens, *(AddedToken(t, special=True) for t in BYTE_TOKENS)]
    tokenizer.pre_tokenizer = split("\u2581", "merged_with_next")  # for training only
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    return tokenizer, trainer


def metaspace_first():
    tokenizer, trainer = bpe(pre_tokenizers.Metaspace(prepend_scheme="first"), unknown="<unk>", fuse_unk=True)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    return tokenizer, trainer


def end_of_word():
    tokenizer, trainer = bpe(pre_tokenizers.Whitespace(), unknown="<unk>", end_of_word_suffix="</w>")
    tokenizer.normalizer = normalizers.Lowercase()
    return tokenizer, trainer


def bert_cased():
    tokenizer, trainer = word_piece(pre_tokenizers.BertPreTokenizer())
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=True)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer, trainer


def accents():
    tokenizer, trainer = word_piece(pre_tokenizers.Whitespace())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
    return tokenizer, trainer


def unigram_nfkc():
    tokenizer, trainer = unigram(pre_tokenizers.Metaspace())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer, trainer


def unigram_strip():
    tokenizer, trainer = unigram(pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.Strip()])
    return tokenizer, trainer


def added_flags():
    tokenizer, trainer = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    tokenizer.later = [
        AddedToken("<mask>", lstrip=True, rstrip=True, normalized=False, special=True),
        AddedToken("lorem", single_word=True, normalized=True), AddedToken("iPhone", normalized=True),
        AddedToken("a!", single_word=True, normalized=False), AddedToken("  ", normalized=True),
        AddedToken("<filename>", rstrip=True, normalized=False), AddedToken("[MASK]", lstrip=True, normalized=True)]
    return tokenizer, trainer


SMALL = {
    "roberta": roberta,
    "sentence_piece": sentence_piece,
    "metaspace_first": metaspace_first,
    "metaspace_never": lambda: bpe(pre_tokenizers.Metaspace("_", "never", split=False), unknown="<unk>"),
    "end_of_word": end_of_word,
    "bert_cased": bert_cased,
    "accents": accents,
    "unigram_nfkc": unigram_nfkc,
    "unigram_strip": unigram_strip,
    "added_flags": added_flags,
    "o200k": lambda: byte_level(with_bytes(split(Regex(O200K)))),
    "tiktoken": lambda: byte_level(with_bytes(split(Regex(TIKTOKEN), "removed", True))),
    "byte_level_first": lambda: byte_level(pre_tokenizers.Sequence([
        pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.ByteLevel(add_prefix_space=False),
        pre_tokenizers.Digits(), split(Regex("[0-9][0-9][0-9]"))])),
    "regex_previous": lambda: byte_level(with_bytes(split(Regex(r"\s+|[aeiou]{2}"), "merged_with_previous"))),
    "regex_next": lambda: byte_level(with_bytes(split(Regex(r"\s|['.]+"), "merged_with_next"))),
    "regex_contiguous": lambda: byte_level(with_bytes(split(Regex(r"[^\sa-z]|\d"), "contiguous"))),
    "regex_empty": lambda: byte_level(with_bytes(split(Regex(r"(?=[A-Z])|(?<=\d)(?=\p{L})")))),
    "regex_removed": lambda: byte_level(with_bytes(split(Regex(r"[\s\-_]+"), "removed"))),
    "delimiter": lambda: bpe(pre_tokenizers.Sequence([pre_tokenizers.CharDelimiterSplit(" "),
                                                      pre_tokenizers.Digits(individual_digits=True)]), unknown="<unk>"),
    "fixed_length": lambda: byte_level(with_bytes(pre_tokenizers.FixedLength(5))),
    "no_cut": lambda: byte_level(with_bytes()),
}


def train(name):
    tokenizer, trainer = SMALL[name]()
    later = getattr(tokenizer, "later", [])
    texts = list(lines())
    if isinstance(trainer, trainers.UnigramTrainer):  # it takes in every character that it sees
        texts = [text for text in texts if text.isascii() and "<" not in text]
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens(later)
    if name == "sentence_piece":
        tokenizer.pre_tokenizer = None
    root = json.loads(tokenizer.to_str())
    # The training marks bytes as added tokens; in real files they are pieces.
    root["added_tokens"] = [t for t in root["added_tokens"] if t["content"] not in BYTE_TOKENS]
    path = GOLDEN / "json" / f"{name}.json"
    path.write_text(json.dumps(root, ensure_ascii=False, separators=(",", ":")) + "\n")


def write(name, reference):
    out = []
    for text in lines():
        user, special = reference.encode(text), reference.encode(text, special=True)
        shown = [user] if user == special else [user, special]
        out.append(" ".join(json.dumps(ids, separators=(",", ":")) for ids in shown))
    (GOLDEN / "ids" / f"{name}.txt").write_text("\n".join(out) + "\n")
    print(f"{name}: {len(out)} lines", flush=True)


def main():
    (GOLDEN / "json").mkdir(exist_ok=True)
    (GOLDEN / "ids").mkdir(exist_ok=True)
    wanted = sys.argv[1:]
    for name in SMALL:
        if wanted and name not in wanted:
            continue
        path = GOLDEN / "json" / f"{name}.json"
        if not path.exists():
            train(name)
        write(name, text_reference.Reference(text_reference.file_json(path)))
    for name, path in MODELS.items():
        if (not wanted or name in wanted) and (FIXTURES / path).exists():
            write(name, text_reference.Reference(text_reference.reference_json(str(FIXTURES / path))))


if __name__ == "__main__":
    main()
