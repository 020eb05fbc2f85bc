#!/usr/bin/env python3
"""Downloads one file from a hub on loopback with Mummu, with curl and, where it can be imported, with
huggingface_hub, in turns; prints the best rate of each and its ratio to curl's. Mummu and huggingface_hub end with the file in a
store, Mummu with its sha256 checked and its bytes on the disk; curl does neither, "curl, openssl" hashes what comes, beside it.

    bench/download.py build/release/app/mummu [--megabytes 1000] [--rounds 5] [--folder FOLDER] [--tls]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FAKE_HUB = Path(__file__).resolve().parent.parent / "src/hub/test/fake_hub.py"
REPOSITORY = "maker/large"


def write_file(path, megabytes):
    path.parent.mkdir(parents=True)
    with open(path, "wb") as file:
        for _ in range(megabytes):
            file.write(os.urandom(1_000_000))


def ways(binary, url, folder):
    """name -> command line"""
    large = f"{url}/{REPOSITORY}/resolve/main/m.gguf"
    python = "from huggingface_hub import hf_hub_download; hf_hub_download('maker/large', 'm.gguf')"
    found = {
        "curl": ["curl", "-sSfL", "-o", str(folder / "out"), large],
        "curl, openssl": ["sh", "-c", f"curl -sSfL {large} | tee {folder}/out | openssl dgst -sha256"],
        "mummu": [binary, "pull", REPOSITORY],
        "huggingface_hub": [sys.executable, "-c", python],
    }
    if subprocess.run([sys.executable, "-c", "import huggingface_hub"], capture_output=True).returncode != 0:
        del found["huggingface_hub"]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where the files lie; default: the system's temporary folder")
    parser.add_argument("--tls", action="store_true", help="over TLS, as real hubs are")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        write_file(folder / "hub" / REPOSITORY / "m.gguf", asked.megabytes)
        tls = ["--tls", "127.0.0.1"] if asked.tls else []
        hub = subprocess.Popen([sys.executable, FAKE_HUB, folder / "hub", *tls], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        said = json.loads(hub.stdout.readline())
        url, ca = said["hub"], said["ca"] or ""
        environment = {**os.environ, "HF_ENDPOINT": url, "HF_HUB_CACHE": str(folder / "store"), "MUMMU_HOME": "",
                       "HF_TOKEN": "", "HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1",
                       "CURL_CA_BUNDLE": ca, "SSL_CERT_FILE": ca, "REQUESTS_CA_BUNDLE": ca}  # fmt: skip
        best = {}
        for _ in range(asked.rounds + 1):  # the first one warms the page cache and the hub's hashes
            for way, words in ways(asked.binary, url, folder).items():
                shutil.rmtree(folder / "store", ignore_errors=True)
                (folder / "out").unlink(missing_ok=True)
                start = time.monotonic()
                subprocess.run(words, env=environment, check=True, capture_output=True)
                best.setdefault(way, []).append(time.monotonic() - start)
        for way, seconds in best.items():
            rate = asked.megabytes / min(seconds[1:])
            ratio = min(best["curl"][1:]) / min(seconds[1:])
            print(f"{way}: {rate:.0f} MB/s, {ratio:.2f} of curl")
        hub.stdin.close()
        hub.wait()


if __name__ == "__main__":
    main()
