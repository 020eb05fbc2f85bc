#!/usr/bin/env python3
"""Writes the seeds of gguf_fuzz, safetensors_fuzz and json_fuzz beside this script: small valid files, byte by byte."""

import json
import struct
from pathlib import Path

HERE = Path(__file__).parent
UINT8, INT8, UINT16, INT16, UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY, UINT64, INT64, FLOAT64 = range(13)
PACK = {UINT8: "<B", INT8: "<b", UINT16: "<H", INT16: "<h", UINT32: "<I", INT32: "<i", FLOAT32: "<f",
        BOOL: "<?", UINT64: "<Q", INT64: "<q", FLOAT64: "<d"}


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, data):
    if kind == STRING:
        return string(data)
    if kind == ARRAY:
        element, items = data
        return struct.pack("<IQ", element, len(items)) + b"".join(value(element, item) for item in items)
    return struct.pack(PACK[kind], data)


def gguf(keys, tensors, version=3, alignment=32):
    """tensors: (name, dimensions with the innermost first, type number, bytes or how many)"""
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(keys))
    for key, kind, data in keys:
        out += string(key) + struct.pack("<I", kind) + value(kind, data)
    offset, data = 0, b""
    for name, dimensions, number, content in tensors:
        content = bytes(range(content)) if isinstance(content, int) else content
        size = len(content)
        out += string(name) + struct.pack("<I", len(dimensions))
        out += b"".join(struct.pack("<Q", d) for d in dimensions) + struct.pack("<IQ", number, offset)
        padded = -(-size // alignment) * alignment
        data += content + b"\0" * (padded - size)
        offset += padded
    return out + b"\0" * (-len(out) % alignment) + data


def safetensors(header, data):
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def write(target, name, data):
    folder = HERE / target
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)


ALL = [("general.architecture", STRING, "llama"), ("a", UINT8, 1), ("b", INT8, -1), ("c", UINT16, 2),
       ("d", INT16, -2), ("e", UINT32, 3), ("f", INT32, -3), ("g", FLOAT32, 0.5), ("h", BOOL, True),
       ("i", UINT64, 2**63), ("j", INT64, -4), ("k", FLOAT64, 0.25),
       ("l", ARRAY, (STRING, ["", "ab", "c"])), ("m", ARRAY, (INT32, [1, -2])), ("n", ARRAY, (FLOAT32, [0.5])),
       ("o", ARRAY, (BOOL, [True, False])), ("p", ARRAY, (ARRAY, [(STRING, ["x"]), (UINT8, [])]))]
TENSORS = [("w.weight", (32, 2), 3, 40), ("b.bias", (4,), 0, 16), ("empty", (0, 3), 1, 0), ("odd", (256,), 17, 74)]

write("gguf_fuzz", "all_types.gguf", gguf(ALL, TENSORS))
write("gguf_fuzz", "version_2.gguf", gguf(ALL[:3], TENSORS[:1], version=2))
write("gguf_fuzz", "alignment_64.gguf", gguf([("general.alignment", UINT32, 64)], TENSORS, alignment=64))
write("gguf_fuzz", "split.gguf", gguf([("split.no", UINT16, 0), ("split.count", UINT16, 2),
                                       ("split.tensors.count", INT32, 2)], TENSORS[:1]))
write("safetensors_fuzz", "plain.safetensors", safetensors(
    {"__metadata__": {"format": "pt"}, "w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
     "b": {"dtype": "BF16", "shape": [], "data_offsets": [16, 18]},
     "empty": {"dtype": "F16", "shape": [0, 3], "data_offsets": [18, 18]},
     "odd": {"dtype": "F8_E4M3", "shape": [3], "data_offsets": [18, 21]}}, bytes(range(21))))
write("safetensors_fuzz", "nothing.safetensors", safetensors({}, b""))
write("json_fuzz", "values.json", json.dumps(
    {"a": [1, -1, 0.5, 1e300, True, None, "x\u00e9\ud83d\ude00"], "o": {"k": {"k": []}}, "rope": None}).encode())
write("json_fuzz", "raw.json", '{"k": ["é😀", "\\n\\u0000", 18446744073709551615]}'.encode())
write("json_fuzz", "index.json", json.dumps(
    {"metadata": {"total_size": 4}, "weight_map": {"a": "model-00001-of-00002.safetensors", "b": "b"}}).encode())
