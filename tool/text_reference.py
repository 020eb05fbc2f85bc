"""The Python package tokenizers as the reference for ours: builds one from a GGUF file's metadata or a tokenizer.json.

What a GGUF file only names (tokenizer.ggml.pre) is spelled out here once more, independently of src/text, as the
tokenizer.json of a public model of each family has it.
"""

import json
import os
import re

import tokenizers

GPT2 = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
DIGITS = {"type": "Digits", "individual_digits": True}
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace("{1,3}", "")
QWEN35 = QWEN2.replace(r"\p{L}+", r"[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")
EAST_ASIAN = "[一-龥ࠀ-一가-퟿]+"
CASED_LETTERS = (
    "\\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-"
    "\u02af"
    "\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-"
    "\u03f5"
    "\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba"
    "\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45"
    "\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe"
    "\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc"
    "\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139"
    "\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-"
    "\u2cee\u2cf2\u2cf3"
    "\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06"
    "\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3"
    "\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df"
    "\U0001e900-\U0001e943]+"
)
SIGNS = "\\s?[!-/:-~！-／：-～‘-‟　-。]+"


def split(expression):
    return {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}


def sequence(*parts):
    return {"type": "Sequence", "pretokenizers": list(parts)}


FALCON = sequence(
    {"type": "Punctuation", "behavior": "Contiguous"}, GPT2,
    {"type": "Digits", "individual_digits": False}, split("[0-9][0-9][0-9]"),
)
CODER = sequence(split(r"[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), split(EAST_ASIAN), DIGITS, BYTES)
DEEPSEEK = sequence(split(r"[\r\n]"), split(CASED_LETTERS), split(SIGNS), split(r"\s+$"), split(EAST_ASIAN), DIGITS, BYTES)

# tokenizer.ggml.pre: (normalizer, pre-tokenizer, ignore_merges)
PRE = {
    "gpt-2": (None, GPT2, False),
    "smollm": (None, sequence(DIGITS, GPT2), False),
    "starcoder": (None, sequence(DIGITS, GPT2), False),
    "refact": (None, sequence(DIGITS, GPT2), False),
    "command-r": ("NFC", sequence(DIGITS, GPT2), False),
    "olmo": ("NFC", GPT2, False),
    "mpt": ("NFC", GPT2, False),
    "qwen2": ("NFC", sequence(split(QWEN2), BYTES), False),
    "deepseek-r1-qwen": ("NFC", sequence(split(QWEN2), BYTES), False),
    "qwen35": ("NFC", sequence(split(QWEN35), BYTES), False),
    "llama-bpe": (None, sequence(split(LLAMA3), BYTES), True),
    "lfm2": (None, sequence(split(LLAMA3), BYTES), True),
    "falcon": (None, FALCON, False),
    "deepseek-coder": (None, CODER, False),
    "deepseek-llm": (None, DEEPSEEK, False),
}

CONTROL = re.compile(r"<\|.+\|>|<｜.+｜>|</?s>|<(start|end)_of_turn>|<unused.+>", re.S)
PADDING = re.compile(r"\[PAD\d+\]")
ROLES = ["bos", "eos", "eot", "eom", "unknown", "padding", "seperator", "cls", "mask"]
NORMAL, UNKNOWN, CONTROL_TYPE, USER_DEFINED = 1, 2, 3, 4


def is_control(text, special, role):
    """The rule for tokens that text of users never becomes."""
    return special or role or CONTROL.fullmatch(text) is not None


def added_token(id, text, special):
    return {"id": id, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": special}


def gguf_added(fields, tokens):
    types = fields.get("tokenizer.ggml.token_type", [NORMAL] * len(tokens))
    roles = {fields.get(f"tokenizer.ggml.{role}_token_id") for role in ROLES}
    unknown = fields.get("tokenizer.ggml.unknown_token_id")
    for id, (text, type) in enumerate(zip(tokens, types)):
        role = id in roles
        by_role = type == NORMAL and role and len(text) > 2 and text[0] in "<["
        if not (type in (CONTROL_TYPE, USER_DEFINED) or (type == UNKNOWN and id == unknown) or by_role):
            continue
        if not PADDING.fullmatch(text):
            yield added_token(id, text, is_control(text, type in (UNKNOWN, CONTROL_TYPE), role))


def scored_merges(tokens, scores, skip):
    """The merges of a SentencePiece vocabulary, as transformers derives them."""
    vocab = {text: id for id, text in enumerate(tokens)}
    merges = []
    for text, id in vocab.items():
        if text in skip:
            continue
        local = [(text[:i], text[i:]) for i in range(1, len(text))
                 if text[:i] in vocab and text[i:] in vocab
                 and text[:i] not in skip and text[i:] not in skip]
        local.sort(key=lambda pair: (vocab[pair[0]], vocab[pair[1]]))
        merges += [(*pair, scores[id]) for pair in local]
    merges.sort(key=lambda m: (m[2], len(m[0]), len(m[1])), reverse=True)
    return [[left, right] for left, right, _ in merges]


def gguf_fields(path):
    from gguf import GGUFReader

    return {key: field.contents() for key, field in GGUFReader(path).fields.items()
            if key.startswith("tokenizer.ggml.")}


def gpt2_json(fields, tokens, added):
    normalizer, pre_tokenizer, ignore_merges = PRE[fields["tokenizer.ggml.pre"]]
    hidden = {token["content"] for token in added}
    model = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
             "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
             "ignore_merges": ignore_merges,
             "vocab": {text: id for id, text in enumerate(tokens)},
             "merges": [m for m in fields["tokenizer.ggml.merges"] if m.replace(" ", "", 1) not in hidden]}
    return {"normalizer": normalizer and {"type": normalizer}, "pre_tokenizer": pre_tokenizer,
            "decoder": GPT2, "model": model}


def llama_json(fields, tokens, added):
    space = "\u2581"
    skip = {token["content"] for token in added}
    steps = [{"type": "Replace", "pattern": {"String": " "}, "content": space}]
    if fields.get("tokenizer.ggml.add_space_prefix", True):
        steps.insert(0, {"type": "Prepend", "prepend": space})
    decoders = [{"type": "Replace", "pattern": {"String": space}, "content": " "},
                {"type": "ByteFallback"}, {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0}]
    model = {"type": "BPE", "dropout": None, "unk_token": tokens[fields["tokenizer.ggml.unknown_token_id"]],
             "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": True,
             "byte_fallback": True, "ignore_merges": False,
             "vocab": {text: id for id, text in enumerate(tokens)},
             "merges": scored_merges(tokens, fields["tokenizer.ggml.scores"], skip)}
    return {"normalizer": {"type": "Sequence", "normalizers": steps}, "pre_tokenizer": None,
            "decoder": {"type": "Sequence", "decoders": decoders}, "model": model}


def bert_text(text):
    if text.startswith("[") and text.endswith("]"):
        return text
    return text[1:] if text.startswith("\u2581") else "##" + text


def bert_json(fields, tokens, added):
    normalizer = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                  "strip_accents": None, "lowercase": True}
    model = {"type": "WordPiece", "unk_token": tokens[fields["tokenizer.ggml.unknown_token_id"]],
             "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
             "vocab": {text: id for id, text in enumerate(tokens)}}
    return {"normalizer": normalizer, "pre_tokenizer": {"type": "BertPreTokenizer"},
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True}, "model": model}


def gguf_json(path):
    """A tokenizer.json of a GGUF file's vocabulary; special is what our rule calls control."""
    fields = gguf_fields(path)
    tokens = fields["tokenizer.ggml.tokens"]
    kind = fields["tokenizer.ggml.model"]
    if kind == "bert":
        tokens = [bert_text(text) for text in tokens]
    if kind == "llama":  # some files do not name it
        fields.setdefault("tokenizer.ggml.unknown_token_id", fields["tokenizer.ggml.token_type"].index(UNKNOWN))
    added = list(gguf_added(fields, tokens))
    build = {"gpt2": gpt2_json, "llama": llama_json, "bert": bert_json}[kind]
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
            "post_processor": None, **build(fields, tokens, added)}


def with_our_rule(root, config):
    """Writes our rule into the special flags."""
    roles = set()
    for role in ("bos", "eos", "pad", "unk", "sep", "cls", "mask"):
        value = config.get(role + "_token")
        roles.add(value["content"] if isinstance(value, dict) else value)
    roles.add(root["model"].get("unk_token"))
    for token in root["added_tokens"]:
        token["special"] = is_control(token["content"], token["special"], token["content"] in roles)
    return root


def file_json(path):
    with open(path, encoding="utf-8") as file:
        return with_our_rule(json.load(file), {})


def folder_json(path):
    config_path = os.path.join(path, "tokenizer_config.json")
    config = {}
    if os.path.exists(config_path):
        with open(config_path, encoding="utf-8") as file:
            config = json.load(file)
    with open(os.path.join(path, "tokenizer.json"), encoding="utf-8") as file:
        return with_our_rule(json.load(file), config)


def reference_json(path):
    if path.endswith(".json"):
        return file_json(path)
    return folder_json(path) if os.path.isdir(path) else gguf_json(path)


def without_control_pieces(root):
    """A Unigram model that cannot make a control token out of plain text, as the package's own would."""
    control = {token["id"] for token in root["added_tokens"] if token["special"]}
    vocab = [[f"\U0010fffd{id}" if id in control else text, score]
             for id, (text, score) in enumerate(root["model"]["vocab"])]
    added = [token for token in root["added_tokens"] if token["id"] not in control]
    return {**root, "added_tokens": added, "post_processor": None, "model": {**root["model"], "vocab": vocab}}


class Reference:
    """encode(text) reads text of users, encode(text, special=True) text of a template."""

    def __init__(self, root):
        root = {**root, "truncation": None, "padding": None}
        self.tokenizer = self.plain = tokenizers.Tokenizer.from_str(json.dumps(root))
        if root["model"].get("type") == "Unigram":
            self.plain = tokenizers.Tokenizer.from_str(json.dumps(without_control_pieces(root)))

    def encode(self, text, special=False):
        tokenizer = self.tokenizer if special else self.plain
        tokenizer.encode_special_tokens = not special
        return tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids):
        return self.tokenizer.decode(ids, skip_special_tokens=False)
