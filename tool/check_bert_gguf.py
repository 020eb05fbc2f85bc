#!/usr/bin/env python3
"""The real MiniLM as a GGUF file, laid out as published ones are, against the folder it is made of: the 200 texts of
golden/minilm must give the same vectors bit by bit, those apart that the folder cuts at 256 tokens (a GGUF file knows
only the model's own 512).

    check_bert_gguf.py MUMMU_BINARY FOLDER

FOLDER takes the file, 91 MB, and is left empty; needs what tool/python.sh brings, and the fixtures.
"""

import json
import os
import pathlib
import subprocess
import sys

import gguf
import numpy
from safetensors.numpy import load_file

from golden import bert_gguf

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
MODEL = pathlib.Path(os.environ.get("MUMMU_FIXTURES", CACHE / "mummu" / "fixtures")) / "all-MiniLM-L6-v2"


def embed(mummu, model):
    texts = ROOT / "golden" / "minilm" / "texts.jsonl"
    out = subprocess.run([mummu, "embed", model, "--input", texts, "--json"], check=True, stdout=subprocess.PIPE)
    return numpy.array([item["embedding"] for item in json.loads(out.stdout)["data"]], dtype=numpy.float32)


def main():
    mummu, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "minilm.gguf"
    try:
        bert_gguf.write(MODEL, path, "all MiniLM L6 v2", gguf.PoolingType.MEAN, "jina-v2-en")
        theirs, ours = embed(mummu, MODEL), embed(mummu, path)
    finally:
        path.unlink(missing_ok=True)
    whole = load_file(ROOT / "golden" / "minilm" / "expected.safetensors")["tokens"] < 256
    different = int((theirs != ours).any(axis=1)[whole].sum())
    print(f"{whole.sum()} of {len(whole)} texts in whole, {different} give other vectors")
    if different or ours.shape != (200, 384) or whole.sum() < 180:
        sys.exit(1)


main()
