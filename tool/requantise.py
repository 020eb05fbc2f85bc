#!/usr/bin/env python3
"""Writes a GGUF file again with its matrices in another type: requantise.py IN.gguf OUT.gguf TYPE

TYPE is f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, q4_k, q5_k, q6_k, or q4_k_m: Q4_K with Q6_K for
the embedding, the head and half of the value and down matrices. Rows that are no multiple of 256 fall
back as in published files: Q4_K to Q5_0, Q5_K to Q5_1, Q6_K to Q8_0. The K types are quantised plainly
(tool/golden/quantiser.py): for tests and measurements, not for use.

needs: gguf, numpy (tool/python.sh brings them)
"""

import pathlib
import sys

import gguf
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from golden.quantiser import quantise

T = gguf.GGMLQuantizationType
FALLBACK = {T.Q4_K: T.Q5_0, T.Q5_K: T.Q5_1, T.Q6_K: T.Q8_0}


def type_of(wanted, name, columns):
    qtype = T.Q4_K if wanted == "q4_k_m" else T[wanted.upper()]
    if wanted == "q4_k_m":
        layer = int(name.split(".")[1]) if name.startswith("blk.") else 0
        often = any(part in name for part in ("attn_v", "ffn_down")) and layer % 2 == 0
        if often or name.startswith(("token_embd", "output")):
            qtype = T.Q6_K
    return FALLBACK[qtype] if qtype in FALLBACK and columns % 256 else qtype


def copy_metadata(reader, writer):
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name in ("general.architecture",
                                                            "general.file_type"):
            continue
        kind = field.types[0]
        sub_kind = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, sub_type=sub_kind)


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    source, target, wanted = sys.argv[1:]
    reader = gguf.GGUFReader(source)
    architecture = reader.get_field("general.architecture").contents()
    writer = gguf.GGUFWriter(target, architecture)
    copy_metadata(reader, writer)
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        if values.ndim == 1:
            writer.add_tensor(tensor.name, numpy.ascontiguousarray(values, dtype=numpy.float32))
            continue
        qtype = type_of(wanted, tensor.name, values.shape[-1])
        rows = values.reshape(-1, values.shape[-1])
        data = quantise(rows, qtype)
        writer.add_tensor(tensor.name, data.reshape(*values.shape[:-1], data.shape[-1]),
                          raw_dtype=qtype)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
