#!/usr/bin/env python3
"""The commands of the store against a hub on loopback: pull, list, show, du, verify, rm and run, over a pipe and on a terminal,
killed, twice at once, offline and out of reach. Usage: hub_test.py MUMMU_BINARY FAKE_HUB [EXAMPLE_PROGRAM...]
MUMMU_KILLS says how often a download is killed (10)."""

import hashlib
import json
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BINARY, FAKE_HUB = sys.argv[1:3]
EXAMPLES = [argument for argument in sys.argv[3:] if argument]
CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
FIXTURES = os.environ.get("MUMMU_FIXTURES") or os.path.join(CACHE, "mummu/fixtures")
MODEL = Path(FIXTURES, "SmolLM2-135M-Instruct.Q4_1.gguf")
CHUNK, CONNECTIONS = 1 << 20, 4  # a killed download loses at most a chunk a connection
failures = []
checked = 0


def expect(name, condition, detail):
    global checked
    checked += 1
    if not condition:
        failures.append(f"{name}: {detail}")


class Hub:
    """The fake hub over `root`, and the command line with a store of its own."""

    def __init__(self, folder):
        self.root, self.store = Path(folder, "hub"), Path(folder, "store")
        self.root.mkdir()
        self.process = subprocess.Popen([sys.executable, FAKE_HUB, self.root], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.url = json.loads(self.process.stdout.readline())["hub"]
        self.environment = {**os.environ, "HF_ENDPOINT": self.url, "MUMMU_HOME": str(self.store), "HF_TOKEN": ""}

    def command(self, **words):
        self.process.stdin.write(json.dumps(words).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def put(self, repository, name, data):
        path = self.root / repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def mummu(self, *words, **environment):
        return subprocess.run([BINARY, *words], input=b"", capture_output=True, timeout=300, env={**self.environment, **environment})

    def start(self, *words):
        return subprocess.Popen([BINARY, *words], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)  # fmt: skip

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def refused(name, done, *says):
    line = done.stderr.decode(errors="replace")
    expect(name, done.returncode == 1 and done.stdout == b"", f"exit {done.returncode}: {done.stdout[:80]!r}")
    expect(name, line.count("\n") == 1, f"one line expected: {line!r}")
    for text in says:
        expect(name, text in line, f"{text!r} expected in {line!r}")


def empty_store(hub):
    for words in (["list"], ["du"], ["list", "--json"]):
        done = hub.mummu(*words)
        expect(f"{words} of an absent store", (done.returncode, done.stdout, done.stderr) == (0, b"", b""), done)
    refused("show of nothing", hub.mummu("show", "maker/one-file"), "not in the store")
    refused("rm outside", hub.mummu("rm", "../hub"))
    start = time.monotonic()
    refused("a hub out of reach", hub.mummu("pull", "maker/one-file", HF_ENDPOINT="http://127.0.0.1:9"), "out of reach")
    expect("a hub out of reach", time.monotonic() - start < 30, "it took more than 30 s")
    refused("offline", hub.mummu("pull", "maker/one-file", HF_HUB_OFFLINE="1"), "HF_HUB_OFFLINE")
    refused("run of what is not here", hub.mummu("run", "maker/one-file", "hello"), "mummu pull maker/one-file")


def commands(hub):
    data = random.Random(1).randbytes(3_000_000)
    hub.put("maker/one-file", "m-q8_0.gguf", data)
    done = hub.mummu("pull", "maker/one-file")
    expect("pull", done.returncode == 0 and done.stderr == b"", done)
    path = Path(done.stdout.decode().strip())
    expect("pull", path.read_bytes() == data, "other bytes than the hub's")
    again = json.loads(hub.mummu("pull", "maker/one-file", "--json").stdout.splitlines()[-1])
    expect("pull again", again["fetched"] == 0 and again["path"] == str(path), again)
    listed = json.loads(hub.mummu("list", "--json").stdout)
    expect("list --json", listed["path"] == str(path) and listed["bytes"] == len(data), listed)
    expect("list", b"maker/one-file" in hub.mummu("list").stdout, hub.mummu("list"))
    shown = json.loads(hub.mummu("show", listed["name"], "--json").stdout)
    expect("show", shown["files"][0]["path"] == "m-q8_0.gguf" and len(shown["files"][0]["hash"]) == 64, shown)
    used = json.loads(hub.mummu("du", "--json").stdout)
    expect("du", used == {"name": "maker/one-file", "bytes": len(data), "part_bytes": 0}, used)
    with open(path, "r+b") as file:
        file.write(b"wrong")
    healed = json.loads(hub.mummu("verify", "maker/one-file", "--json").stdout)
    expect("verify", healed["healed"] == ["m-q8_0.gguf"] and path.read_bytes() == data, healed)
    expect("verify", b"every hash is right" in hub.mummu("verify", "maker/one-file").stdout, "it found something")
    removed = json.loads(hub.mummu("rm", "maker/one-file", "--json").stdout)
    expect("rm", removed["freed"] == len(data) and not path.exists(), removed)
    expect("rm", hub.mummu("list").stdout == b"", "it is still listed")
    refused("pull of what the hub does not have", hub.mummu("pull", "maker/absent"), "404")


def two_at_once(hub):
    hub.put("maker/twice", "m.gguf", random.Random(2).randbytes(20_000_000))
    hub.command(cmd="clear")
    both = [hub.start("pull", "maker/twice") for _ in range(2)]
    ends = [process.communicate(timeout=300) for process in both]
    expect("two at once", all(process.returncode == 0 for process in both), ends)
    expect("two at once", ends[0][0] == ends[1][0] != b"", ends)
    sent = sum(entry["sent"] for entry in hub.command(cmd="log") if "/blob/" in entry["path"])
    expect("two at once", sent == 20_000_000, f"{sent} bytes were sent for 20000000")


PAGE = 4096


def remains(blobs, data):
    """(bytes that a killed download will keep, bytes that it had written, ranges), after any moment of its life."""
    names = {path.name: path for path in blobs.iterdir()} if blobs.is_dir() else {}
    if hashlib.sha256(data).hexdigest() in names:
        return len(data), len(data), 1
    part = next((path for name, path in names.items() if name.endswith(".part")), None)
    if part is None or f"{part.name}.map" not in names:
        return 0, 0, 1
    ranges = [[int(n) for n in line.split()] for line in names[f"{part.name}.map"].read_text().splitlines()[1:]]
    there = part.read_bytes()
    pages = sum(there[at : at + PAGE] == data[at : at + PAGE] for at in range(0, len(data), PAGE))
    return sum(done for _, _, done in ranges), pages * PAGE, len(ranges)


def kills(hub):
    """Each kill costs at most a chunk a connection, and at the end stands the hub's file."""
    data = random.Random(3).randbytes(96_000_000)
    hub.put("maker/killed", "m.gguf", data)
    blobs = hub.store / "models--maker--killed/blobs"
    start = time.monotonic()
    hub.mummu("pull", "maker/killed")
    whole = time.monotonic() - start
    dice, killed = random.Random(os.environ.get("MUMMU_KILL_SEED", "4")), 0
    while killed < int(os.environ.get("MUMMU_KILLS", "10")):
        shutil.rmtree(blobs.parent, ignore_errors=True)
        kept = 0
        for _ in range(3):
            process = hub.start("pull", "maker/killed", "--json")
            time.sleep(dice.uniform(0, whole / 2))
            process.send_signal(signal.SIGKILL)
            out = process.communicate()[0]
            if process.returncode != -signal.SIGKILL:
                break
            killed += 1
            before, (kept, written, ranges) = kept, remains(blobs, data)
            expect("kill", kept >= before, f"{kept} bytes kept after {before}")
            expect("kill", written - kept <= min(ranges, CONNECTIONS) * (CHUNK + 65536), f"{written} bytes written, {kept} kept, {ranges} ranges")
        if process.returncode == -signal.SIGKILL:
            listed = hub.mummu("list").stdout.count(b"maker/killed") > 0
            expect("kill", not listed or kept == len(data), "a part is listed as a model")
            out = hub.mummu("pull", "maker/killed", "--json").stdout
            last = json.loads(out.splitlines()[-1])
            expect("resume", last["fetched"] == len(data) - kept, f"{last['fetched']} fetched of {len(data)}, {kept} kept")
        last = json.loads(out.splitlines()[-1])
        expect("resume", Path(last["path"]).read_bytes() == data, "other bytes than the hub's")
        expect("resume", [p.name for p in blobs.iterdir() if "." in p.name] == [], "a part was left behind")


def on_terminal(hub, *words, answer=b""):
    """What a person sees, and the exit code."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(hub.environment)
        os.execv(BINARY, [BINARY, *words])
    shown = b""
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:
            part = b""
        if not part:
            break
        shown += part
        if answer and b"[Y/n]" in shown:
            os.write(fd, answer)
            answer = b""
    os.close(fd)
    return shown, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def terminal(hub):
    hub.put("maker/shown", "m.gguf", random.Random(5).randbytes(2_000_000))
    hub.command(cmd="fault", kind="status", on="/api/models/maker/shown", status=429, after=1)
    shown, code = on_terminal(hub, "pull", "maker/shown")
    expect("a bar on a terminal", code == 0 and b"again in 1.0 s" in shown, shown)
    hub.mummu("rm", "maker/shown")
    shown, code = on_terminal(hub, "run", "maker/shown", "hello", answer=b"n\n")
    expect("run asks", code == 1 and b"2.0 MB to download" in shown, shown)
    expect("run asks", hub.mummu("list").stdout.count(b"maker/shown") == 0, "it came although the answer was no")


def proxy(hub):
    """The hub's own port serves as the proxy: it takes requests for any host."""
    hub.put("maker/behind", "m.gguf", random.Random(6).randbytes(50_000))
    hub.command(cmd="clear")
    behind = {"HF_ENDPOINT": "http://hub.example", "no_proxy": ""}
    done = hub.mummu("pull", "maker/behind", **behind, http_proxy=hub.url)
    expect("through a proxy", done.returncode == 0, done)
    asked = [entry["path"] for entry in hub.command(cmd="log")]
    expect("through a proxy", len(asked) == 3 and all(path.startswith("http://") for path in asked), asked)
    refused("a proxy out of reach", hub.mummu("pull", "maker/behind", **behind, http_proxy="http://127.0.0.1:9"), "out of reach")
    done = hub.mummu("pull", "maker/behind", http_proxy="http://127.0.0.1:9", no_proxy="127.0.0.1")
    expect("no_proxy", done.returncode == 0, done)


def run(hub):
    if not MODEL.exists():
        if os.environ.get("MUMMU_REQUIRE_FIXTURES"):
            failures.append(f"missing fixture {MODEL}")
        return print(f"skipped: {MODEL} is missing; get it with tool/fetch_models.sh --tests")
    repository = hub.root / "maker/real"
    repository.mkdir(parents=True)
    (repository / "m-q4_1.gguf").symlink_to(MODEL.resolve())
    done = hub.mummu("run", "maker/real:q4_1", "Say hi.", "--max-tokens", "4", "--yes")
    expect("run --yes", done.returncode == 0 and done.stdout.strip(), done)
    again = hub.mummu("run", "maker/real:q4_1", "Say hi.", "--max-tokens", "4", HF_HUB_OFFLINE="1", HF_ENDPOINT="http://127.0.0.1:9")
    expect("run offline", again.returncode == 0 and again.stdout == done.stdout, again)


def example(hub):
    hub.put("maker/example", "m.gguf", b"GGUF and more")
    for program in EXAMPLES:
        done = subprocess.run([program, "maker/example"], capture_output=True, timeout=300, env=hub.environment)
        expect("example", Path(done.stdout.decode().strip()).read_bytes() == b"GGUF and more", done)


def main():
    for group in (empty_store, commands, two_at_once, kills, terminal, proxy, run, example):
        with tempfile.TemporaryDirectory() as folder:
            hub = Hub(folder)
            start = time.monotonic()
            try:
                group(hub)
            finally:
                hub.close()
            print(f"{group.__name__}: {time.monotonic() - start:.1f} s")
    for line in failures:
        print(line)
    print(f"{checked} checks, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
