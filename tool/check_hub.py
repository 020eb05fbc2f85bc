#!/usr/bin/env python3
"""The store is the one of the Python package huggingface_hub: what one downloaded the other finds, without a request.

    tool/python.sh tool/check_hub.py build/dev/app/mummu

Both ask a hub on loopback (src/hub/test/fake_hub.py)."""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

FAKE_HUB = Path(__file__).resolve().parent.parent / "src/hub/test/fake_hub.py"
FILES = {
    "config.json": b'{"model_type": "llama"}',
    "tokenizer.json": b'{"model": {}}',
    "model.safetensors": random.Random(1).randbytes(300_000),
}


class Hub:
    def __init__(self, root):
        self.process = subprocess.Popen([sys.executable, FAKE_HUB, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.url = json.loads(self.process.stdout.readline())["hub"]

    def requests(self):
        """Since the last call."""
        log = self.command(cmd="log")
        self.command(cmd="clear")
        return log

    def command(self, **words):
        self.process.stdin.write(json.dumps(words).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def put(root, repository):
    for name, data in FILES.items():
        path = Path(root, repository, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def python(environment, code):
    done = subprocess.run([sys.executable, "-c", "import sys; from huggingface_hub import *; " + code], capture_output=True,
                          text=True, timeout=300, env=environment)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def check_files(folder):
    for name, data in FILES.items():
        assert Path(folder, name).read_bytes() == data, f"{folder}/{name} has other bytes than the hub's"


def check(binary, hub, root, cache):
    online = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HUB_CACHE": str(cache), "HF_TOKEN": "", "HF_HUB_DISABLE_XET": "1",
              "HF_HUB_DISABLE_TELEMETRY": "1"}  # fmt: skip
    online.pop("MUMMU_HOME", None)
    offline = {**online, "HF_HUB_OFFLINE": "1"}

    put(root, "maker/by-python")
    folder = python(online, "print(snapshot_download('maker/by-python'))")
    check_files(folder)
    hub.requests()
    for words in (["show", "maker/by-python", "--json"], ["pull", "maker/by-python", "--json"]):
        done = subprocess.run([binary, *words], capture_output=True, text=True, timeout=60, env=offline)
        assert done.returncode == 0 and json.loads(done.stdout.splitlines()[-1])["path"] == folder, done
    done = subprocess.run([binary, "verify", "maker/by-python"], capture_output=True, text=True, timeout=60, env=offline)
    assert done.returncode == 0 and "3 files" in done.stdout, done
    assert not hub.requests(), "Mummu asked for what Python had downloaded"

    put(root, "maker/by-mummu")
    done = subprocess.run([binary, "pull", "maker/by-mummu"], capture_output=True, text=True, timeout=60, env=online)
    assert done.returncode == 0, done
    hub.requests()
    assert python(offline, "print(snapshot_download('maker/by-mummu'))") == done.stdout.strip()
    assert python(offline, "print(hf_hub_download('maker/by-mummu', 'config.json'))").startswith(done.stdout.strip())
    sizes = python(offline, "print([(r.repo_id, r.size_on_disk) for r in scan_cache_dir().repos if r.repo_id == 'maker/by-mummu'])")
    assert str(sum(map(len, FILES.values()))) in sizes, sizes
    assert not python(offline, "print(*scan_cache_dir().warnings)"), "Python finds something odd in the store"
    assert not hub.requests(), "Python asked for what Mummu had downloaded"
    sent = subprocess.run([sys.executable, "-c", "from huggingface_hub import *; snapshot_download('maker/by-mummu')"],
                          capture_output=True, text=True, timeout=300, env=online)  # fmt: skip
    assert sent.returncode == 0, sent.stderr
    assert all(r["method"] == "HEAD" or "/api/" in r["path"] for r in hub.requests()), "Python fetched what Mummu had"


def main():
    with tempfile.TemporaryDirectory() as folder:
        root, cache = Path(folder, "hub"), Path(folder, "cache")
        root.mkdir()
        hub = Hub(root)
        try:
            check(sys.argv[1], hub, root, cache)
        finally:
            hub.close()
    print("huggingface_hub and Mummu find each other's downloads: 2 passed, 0 failed")


if __name__ == "__main__":
    main()
