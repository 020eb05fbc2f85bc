"""Blocks of every weight type and what PyPI's gguf package makes of them, and what its quantisers
make of rows of floats: golden/weight_type/{blocks,quantised}.gguf.

blocks.gguf     for each TYPE a matrix of that type, and TYPE.f32: its values. Rows of 256: random
                bytes; in later rows scales that are zeros, denormals, the largest, infinities, NaNs.
quantised.gguf  f32: rows of floats, ordinary ones, ties, zeros, denormals, the very small and large;
                q8_0 and q4_0: their quantised bytes.
"""

import pathlib
import sys

import gguf
import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "golden" / "weight_type"
COLUMNS = 256
T = gguf.GGMLQuantizationType
# Where the f16 words of a block lie.
HALVES = {
    T.F16: [0], T.Q8_0: [0], T.Q4_0: [0], T.Q4_1: [0, 2], T.Q5_0: [0], T.Q5_1: [0, 2],
    T.Q4_K: [0, 2], T.Q5_K: [0, 2], T.Q6_K: [208],
}
EDGES = [0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x3C00, 0xBC00]


def random_rows(qtype, rows, random):
    elements, size = gguf.GGML_QUANT_SIZES[qtype]
    blocks = random.integers(0, 256, (rows * COLUMNS // elements, size)).astype(numpy.uint8)
    for n, at in enumerate(HALVES.get(qtype, [])):
        half = (random.integers(0, 0x400, len(blocks)) | (random.integers(6, 13, len(blocks)) << 10)
                | (random.integers(0, 2, len(blocks)) << 15)).astype(numpy.uint16)
        odd = numpy.arange(len(blocks)) * COLUMNS < len(blocks) * COLUMNS // 2
        edges = numpy.array(EDGES, numpy.uint16)[random.integers(0, len(EDGES), len(blocks))]
        half = numpy.where(odd, half, edges) if qtype != T.F16 else half
        blocks[:, at:at + 2] = half.view(numpy.uint8).reshape(-1, 2)
    if qtype == T.Q6_K:
        blocks[1::4, 192:208] = numpy.array([0, 0x80, 0x7F, 0xFF] * 4, numpy.uint8)
    return blocks.reshape(rows, -1)


def floats(random):
    """Rows of 256 = 8 blocks; names say what each is for."""
    ordinary = random.standard_normal((6, COLUMNS)).astype(numpy.float32)
    wide = (random.standard_normal((2, COLUMNS)) * 10.0 ** random.integers(-12, 4, (2, COLUMNS)))
    small = ordinary[:1] * numpy.float32(1e-36)
    below_half = ordinary[:1] * numpy.float32(1e-7)  # scales that are denormal in f16
    none = ordinary[:1] * numpy.float32(1e-9)  # scales that are zero in f16
    large = ordinary[:1] * numpy.float32(5e4)
    zeros = numpy.zeros((1, COLUMNS), numpy.float32)
    zeros[:, ::3] = -0.0
    # Multiples of a half of the scale: ties of both quantisers, both signs.
    ties = numpy.concatenate([
        numpy.array([s * 127] + [i / 2 * s for i in range(31)], numpy.float32) for s in (1, -1, 2, -2)] + [
        numpy.array([s * 8] + [((i % 17) / 2) * (-s if i % 2 else s) for i in range(31)], numpy.float32)
        for s in (1, -1, 0.5, -0.5)])[None]
    # The largest magnitude twice, with either sign first; the same everywhere; one number only.
    twice = numpy.zeros((1, COLUMNS), numpy.float32)
    twice[0, [3, 40, 70, 100]] = [5, -5, -5, 5]
    twice[0, [9, 41, 80, 101]] = [-5, 5, -5, 5]
    twice[0, 128:160] = 0.1
    twice[0, 160:192] = -0.1
    twice[0, 200] = 3e-3
    twice[0, 231] = -3e-3
    return numpy.concatenate([ordinary, wide.astype(numpy.float32), small, below_half, none, large,
                              zeros, ties, twice]).astype(numpy.float32)


def write(path, tensors):
    writer = gguf.GGUFWriter(str(path), "none")
    for name, value, qtype in tensors:
        writer.add_tensor(name, numpy.ascontiguousarray(value), raw_dtype=qtype)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    path.chmod(0o644)


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(11)
    tensors = []
    with numpy.errstate(all="ignore"):
        for qtype in [T.F16, T.BF16] + [t for t in HALVES if t != T.F16]:
            rows = 12 if gguf.GGML_QUANT_SIZES[qtype][0] == COLUMNS else 4
            stored = random_rows(qtype, rows, random)
            values = gguf.quants.dequantize(stored, qtype).astype(numpy.float32)
            tensors += [(qtype.name.lower(), stored, qtype), (qtype.name.lower() + ".f32", values, T.F32)]
        write(FOLDER / "blocks.gguf", tensors)
        x = floats(random)
        write(FOLDER / "quantised.gguf", [("f32", x, T.F32)] + [
            (t.name.lower(), gguf.quants.quantize(x, t), t) for t in (T.Q8_0, T.Q4_0)])
    size = sum(p.stat().st_size for p in FOLDER.iterdir())
    print(f"golden/weight_type: {size / 1e3:.0f} kB", file=sys.stderr)
    return 0
