"""Quantisers to GGUF block types: the gguf package's own where it has one, and plain ones for the K
types (the nearest numbers to scales that span each sub-block; no search), good enough for tests."""

import gguf
import numpy

SUPER = 256


def _safe_divide(a, b):
    return numpy.divide(a, b, out=numpy.zeros(numpy.broadcast(a, b).shape, numpy.float32), where=b != 0)


def _pack_sixes(scale, minimum):
    """8 scales and 8 minima of 6 bits as 12 bytes; gguf's Q4_K.get_scale_min undoes it."""
    low = (scale[:, :4] & 63) | ((scale[:, 4:] >> 4) << 6)
    mid = (minimum[:, :4] & 63) | ((minimum[:, 4:] >> 4) << 6)
    high = (scale[:, 4:] & 15) | ((minimum[:, 4:] & 15) << 4)
    return numpy.concatenate([low, mid, high], axis=1).astype(numpy.uint8)


def _halves(values):
    return values.astype(numpy.float16).view(numpy.uint8).reshape(values.shape[0], -1)


def _q4_k_q5_k(rows, bits):
    top = 2**bits - 1
    blocks = rows.reshape(-1, 8, 32).astype(numpy.float32)
    low = numpy.minimum(blocks.min(axis=2), 0)
    scale = (numpy.maximum(blocks.max(axis=2), 0) - low) / top
    d = (scale.max(axis=1, keepdims=True) / 63).astype(numpy.float16).astype(numpy.float32)
    dmin = ((-low).max(axis=1, keepdims=True) / 63).astype(numpy.float16).astype(numpy.float32)
    six_scale = numpy.clip(numpy.rint(_safe_divide(scale, d)), 0, 63).astype(numpy.uint8)
    six_min = numpy.clip(numpy.rint(_safe_divide(-low, dmin)), 0, 63).astype(numpy.uint8)
    q = _safe_divide(blocks + (dmin * six_min)[:, :, None], (d * six_scale)[:, :, None])
    q = numpy.clip(numpy.rint(q), 0, top).astype(numpy.uint8)
    nibbles = (q[:, 0::2] & 15) | ((q[:, 1::2] & 15) << 4)
    parts = [_halves(d), _halves(dmin), _pack_sixes(six_scale, six_min)]
    if bits == 5:
        fifth = (q >> 4) << numpy.arange(8, dtype=numpy.uint8)[None, :, None]
        parts.append(numpy.bitwise_or.reduce(fifth, axis=1))
    parts.append(nibbles.reshape(len(blocks), 128))
    return numpy.concatenate(parts, axis=1)


def _q6_k(rows):
    blocks = rows.reshape(-1, 16, 16).astype(numpy.float32)
    scale = abs(blocks).max(axis=2) / 31
    d = (scale.max(axis=1, keepdims=True) / 127).astype(numpy.float16).astype(numpy.float32)
    eight = numpy.clip(numpy.rint(_safe_divide(scale, d)), -128, 127).astype(numpy.int8)
    q = _safe_divide(blocks, (d * eight)[:, :, None])
    q = (numpy.clip(numpy.rint(q), -32, 31) + 32).astype(numpy.uint8)
    q = q.reshape(-1, 2, 4, 32)  # halves, sub-blocks of 32
    low = numpy.concatenate([(q[:, :, 0] & 15) | ((q[:, :, 2] & 15) << 4),
                             (q[:, :, 1] & 15) | ((q[:, :, 3] & 15) << 4)], axis=2)
    pairs = numpy.bitwise_or.reduce((q >> 4) << numpy.array([0, 2, 4, 6], numpy.uint8)[:, None], axis=2)
    return numpy.concatenate([low.reshape(-1, 128), pairs.reshape(-1, 64), eight.view(numpy.uint8),
                              _halves(d)], axis=1)


def quantise(matrix, qtype):
    """The bytes of a float matrix, rows of whole blocks; shape (rows, bytes of a row)."""
    T = gguf.GGMLQuantizationType
    rows = numpy.ascontiguousarray(matrix, dtype=numpy.float32)
    if qtype in (T.Q4_K, T.Q5_K):
        out = _q4_k_q5_k(rows, 4 if qtype == T.Q4_K else 5)
    elif qtype == T.Q6_K:
        out = _q6_k(rows)
    else:
        return gguf.quants.quantize(rows, qtype)
    return out.reshape(rows.shape[0], -1)
