#!/usr/bin/env python3
"""Runs the command line as a person would who gets things wrong: every mistake ends in one clear line on stderr, nothing on
stdout, the right exit code, and nothing left behind. Usage: cli_test.py MUMMU_BINARY"""

import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time

BINARY = sys.argv[1]
CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
FIXTURES = os.environ.get("MUMMU_FIXTURES") or os.path.join(CACHE, "mummu/fixtures")
MODEL = os.path.join(FIXTURES, "SmolLM2-135M-Instruct.Q4_1.gguf")
MINILM = os.path.join(FIXTURES, "all-MiniLM-L6-v2")
failures = []
checked = 0


def mummu(*words, stdin=b"", cwd=None):
    return subprocess.run([BINARY, *words], input=stdin, capture_output=True, timeout=300, cwd=cwd)


def expect(name, condition, detail):
    global checked
    checked += 1
    if not condition:
        failures.append(f"{name}: {detail}")


def refused(name, *words, code=1, says=(), stdin=b""):
    """The command fails with one line that holds every text of `says`."""
    done = mummu(*words, stdin=stdin)
    line = done.stderr.decode(errors="replace")
    expect(name, done.returncode == code, f"exit {done.returncode}, {code} expected: {line}")
    expect(name, done.stdout == b"", f"stdout holds {done.stdout[:80]!r}")
    if code == 1:
        expect(name, line.count("\n") == 1, f"one line expected: {line!r}")
    for text in says:
        expect(name, text in line, f"{text!r} expected in {line!r}")


def gguf_of(architecture):
    def text(value):
        return struct.pack("<Q", len(value)) + value.encode()

    key = text("general.architecture") + struct.pack("<I", 8) + text(architecture)
    return b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + key


def files(folder):
    def put(name, data):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    with open(MODEL, "rb") as file:
        head = file.read(40_000_000)
    refused("a type that nothing is quantised to", "run", MODEL, "hello", "--quantize", "q2_k", code=2, says=["q2_k"])
    refused("no such model", "run", "no-such-model", "hello", says=["no such model", "no-such-model", "smollm2-135m-instruct"])
    empty = os.path.join(folder, "empty")
    os.mkdir(empty)
    refused("a folder without weights", "run", empty, "hello", says=["empty"])
    refused("a text file named .gguf", "run", put("text.gguf", b"once upon a time\n" * 9), "hello", says=["text.gguf"])
    refused("a truncated download", "run", put("cut.gguf", head), "hello", says=["cut.gguf"])
    refused("an empty file", "check", put("nothing.gguf", b""), says=["nothing.gguf"])
    refused("an unknown architecture", "check", put("odd.gguf", gguf_of("mamba9")), says=["mamba9", "llama"])
    refused("check of a missing path", "check", os.path.join(folder, "absent.gguf"), says=["absent.gguf"])


def requests(_folder):
    refused("an empty prompt", "run", MODEL, "", says=["empty"])
    refused("a prompt longer than the context", "run", MODEL, "word " * 400, "--ctx", "128", says=["128"])
    refused("a context beyond the checkpoint's", "run", MODEL, "hello", "--ctx", "9000", says=["8192", "9000"])
    refused("temperature NaN", "run", MODEL, "hello", "--temperature", "nan", says=["temperature"])
    refused("temperature below zero", "run", MODEL, "hello", "--temperature", "-1", says=["temperature", "-1"])
    refused("top_p 0", "run", MODEL, "hello", "--top-p", "0", says=["top_p"])
    refused("max_tokens 0", "run", MODEL, "hello", "--max-tokens", "0", says=["max_tokens"])
    refused("a prompt that is not UTF-8", "run", MODEL, "-", stdin=b"ab\xff\xfecd", says=["UTF-8"])
    refused("a token id past the vocabulary", "logits", MODEL, "--ids", "1,49152", "--out", "x.npy", says=["49152"])
    refused("a negative token id", "logits", MODEL, "--ids=-1", "--out", "x.npy", says=["-1"])
    refused("an unknown device", "run", MODEL, "hello", "--device", "abacus", says=["abacus", "cpu"])
    expect("no logits file", not os.path.exists("x.npy") and not os.path.exists("x.npy.part"), "it was left behind")


def usage(_folder):
    for words in ((), ("run",), ("fly",), ("run", MODEL, "hello", "--threads", "x"), ("run", MODEL, "hello", "--kv", "f3"),
                  ("run", "a", "b", "c")):
        refused(f"usage {words}", *words, code=2)


def works(folder):
    done = mummu("--version")
    expect("--version", done.returncode == 0 and b"contract cpu-" in done.stdout, done.stdout)
    done = mummu("devices")
    expect("devices", done.returncode == 0 and done.stdout.startswith(b"cpu\t"), done.stdout)
    done = mummu("check", MODEL)
    expect("check", done.returncode == 0 and b"llama" in done.stdout and b"Q4_1" in done.stdout, done.stdout)
    done = mummu("run", MODEL, "Say hi.", "--max-tokens", "4", "--json")
    answer = json.loads(done.stdout)
    expect("run --json", len(answer["ids"]) <= 4 and answer["finish"] in ("length", "stop"), answer)
    streamed = mummu("run", MODEL, "Say hi.", "--max-tokens", "4")
    expect("streamed text", streamed.stdout.decode() == answer["text"] + "\n", streamed.stdout)
    expect("a last line", b"tok/s" in streamed.stderr, streamed.stderr)
    ids = mummu("tokenize", MODEL, "--json", stdin="Grüße <|im_end|>".encode())
    back = mummu("detokenize", MODEL, stdin=ids.stdout)
    expect("tokenize and back", back.stdout.decode() == "Grüße <|im_end|>", back.stdout)
    expect("text stays text", 2 not in json.loads(ids.stdout), ids.stdout)
    special = mummu("tokenize", MODEL, "--json", "--special", stdin=b"<|im_end|>")
    expect("--special", json.loads(special.stdout) == [2], special.stdout)
    out = os.path.join(folder, "logits.npy")
    done = mummu("logits", MODEL, "--ids", "1,2,3", "--out", out)
    expect("logits", done.returncode == 0 and os.path.getsize(out) == 128 + 3 * 49152 * 4, done.stderr)
    talk = mummu("chat", MODEL, "--max-tokens", "3", stdin=b"Say hi.\n/help\n/nonsense\n/quit\n")
    expect("chat over a pipe", talk.returncode == 0 and talk.stdout.strip() != b"", talk)
    expect("chat /help", b"/save" in talk.stderr and b"/nonsense" in talk.stderr, talk.stderr)


class Terminal:
    """The program on a terminal, with a person who types."""

    def __init__(self, *words):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(BINARY, [BINARY, *words])
        self.shown = b""

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait_for(self, name, text, more=0, seconds=240):
        """Until `text` and `more` bytes are shown; what follows is left for the next call."""
        end = time.monotonic() + seconds
        while True:
            at = self.shown.find(text.encode())
            if at >= 0 and len(self.shown) >= at + len(text.encode()) + more:
                self.shown = self.shown[at + len(text.encode()) + more :]
                return expect(name, True, "")
            ready = select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]
            try:
                part = os.read(self.fd, 65536) if ready else b""
            except OSError:  # the program has left its terminal
                part = b""
            if not part:
                return expect(name, False, f"{text!r} expected on the terminal, there is {self.shown[-300:]!r}")
            self.shown += part

    def leave(self):
        """The exit code, once the program has ended; a minute after the last sign of life it is killed."""
        while True:
            if not select.select([self.fd], [], [], 60)[0]:
                os.kill(self.pid, signal.SIGKILL)
            try:
                if not os.read(self.fd, 65536):
                    break
            except OSError:
                break
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def terminal(folder):
    saved = os.path.join(folder, "talk.json")
    person = Terminal("chat", MODEL, "--max-tokens", "7000")
    person.wait_for("a prompt", "> ")
    person.type("Write a very long story about the sea\r")  # which the model never ends by itself
    person.wait_for("an answer begins", "Once upon a time", more=40)
    person.type("\x03")
    person.wait_for("Ctrl-C stops the answer", "(stopped)")
    person.wait_for("a prompt again", "> ")
    person.type("half a line")
    person.wait_for("what was typed", "half a line")
    person.type("\x03")
    person.wait_for("Ctrl-C drops a line", "> ")
    for _ in range(20):  # however early it comes
        person.type("half a line\x03")
        person.wait_for("Ctrl-C right after the letters", "> ")
    person.type("/system Grüße\r")
    person.wait_for("a line after Ctrl-C", "> ")
    person.type(f"/save {saved}\r")
    person.wait_for("a save", "1 messages saved")
    person.wait_for("a prompt after the save", "> ")
    person.type("/nonsense\r")
    person.wait_for("an unknown command", "is not a command")
    person.wait_for("a prompt after the command", "> ")
    person.type("\x1b[A\r")
    person.wait_for("the arrow up recalls a line", "is not a command")
    person.wait_for("the last prompt", "> ")
    person.type("\x04")
    expect("Ctrl-D leaves", person.leave() == 0, "exit 0 expected")
    with open(saved, encoding="utf-8") as file:
        expect("what was saved", json.load(file) == [{"role": "system", "content": "Grüße"}], saved)


def numbers(line):
    return [float(word) for word in line.split()]


def embeddings(folder):
    if not os.path.exists(MINILM):
        expect("fixture", not os.environ.get("MUMMU_REQUIRE_FIXTURES"), f"{MINILM} is missing")
        return
    plain = mummu("embed", MINILM, "the sea", "", "a train")
    rows = [numbers(line) for line in plain.stdout.decode().splitlines()]
    expect("embed", [len(row) for row in rows] == [384] * 3, plain.stderr)
    expect("a vector has length 1", abs(sum(x * x for x in rows[0]) - 1) < 1e-5, rows[0][:3])
    path = os.path.join(folder, "texts.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.write('"the sea"\n\n{"id": 7, "text": ""}\r\n"a train"')
    out = mummu("embed", MINILM, "--input", path, "--json", "--threads", "1")
    data = json.loads(out.stdout)["data"]
    expect("embed --json", [row["index"] for row in data] == [0, 1, 2], out.stderr)
    expect("the same numbers in both forms", [row["embedding"] for row in data] == rows, "they differ")
    out = mummu("embed", MINILM, "--input", "-", "--json", stdin=b"")
    expect("no texts", json.loads(out.stdout) == {"data": []}, out.stdout)
    out = mummu("check", MINILM)
    expect("check of an encoder", out.returncode == 0 and b"bert" in out.stdout and b"pooling mean" in out.stdout
           and b"256 tokens" in out.stdout, out.stdout)
    small = mummu("check", MINILM, "--quantize", "q8_0")
    expect("check --quantize of an encoder", b"24.1 MB in memory" in small.stdout, small.stdout)
    out = mummu("embed", MINILM, "the sea", "--quantize", "q8_0")
    near = sum(x * y for x, y in zip(numbers(out.stdout), rows[0]))
    expect("embed --quantize is near", near > 0.999 and numbers(out.stdout) != rows[0], near)
    refused("run of an encoder", "run", MINILM, "hello", says=["makes vectors"])
    refused("embed with a plain decoder", "embed", MODEL, "hello", says=["pooling_type"])
    refused("embed without a text", "embed", MINILM, says=["no text"])
    refused("a text that is not UTF-8", "embed", MINILM, b"fine", b"ab\xff", says=["text 1", "UTF-8"])
    refused("a prompt that is not there", "embed", MINILM, "a", "--prompt", "query", says=["query", "has none"])
    refused("a line that is no text", "embed", MINILM, "--input", "-", stdin=b'"a"\n{"body": 1}\n', says=["line 2"])
    refused("embed usage", "embed", code=2)


def run(*parts):
    """Each part in turn, in one temporary folder; then the sum, and exit."""
    if not os.path.exists(MODEL):
        if os.environ.get("MUMMU_REQUIRE_FIXTURES"):
            sys.exit(f"missing fixture {MODEL}")
        print(f"skipped: {MODEL} is missing; get it with tool/fetch_models.sh --tests")
        return
    with tempfile.TemporaryDirectory() as folder:
        for part in parts:
            part(folder)
    for failure in failures:
        print("FAILED", failure)
    print(f"{checked - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    run(files, requests, usage, works, terminal, embeddings)
