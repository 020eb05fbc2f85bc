#!/usr/bin/env python3
"""A small Hugging Face hub on loopback, with faults on demand, for tests.

    fake_hub.py ROOT [--tls NAME]

ROOT/OWNER/NAME/... are the repositories. The hub answers on one port; files of LFS_BYTES or more are redirected to a second
one, as the real hub does. The first line on stdout says where: {"hub": URL, "cdn": URL, "ca": FILE}. Then each line on stdin is
a command, answered by one line:

    {"cmd": "fault", "on": REGEX of the path, "host": "hub" | "cdn", "times": N, "kind": KIND, ...}   see `Fault`
    {"cmd": "listing", "repository": NAME, "siblings": [...]}       what the API says instead of the truth
    {"cmd": "clear"}                                               no fault and an empty log from now on
    {"cmd": "log"}                                                 the requests since then

--tls NAME serves https with a fresh certificate for that name (an IP address or a host). End of stdin ends the hub.
"""

import email.utils
import hashlib
import json
import re
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

LFS_BYTES = 4096
PIECE = 1 << 16


class Fault:
    """What goes wrong with a request:
    status   answers `status`, with Retry-After: `after` if given
    cut      closes the connection in front of byte `at` of the file (or of the answer's body); reset: the same by a reset
    stall    falls silent there; drip: sends byte after byte for 200 bytes from there
    flip     changes byte `at`
    length   says `by` more bytes than there are; short, long: sends `by` bytes fewer or more and says so
    range    answers a range with 206 from another place; ignore_range: with 200 and the whole
    redirect to `to`; loop: to itself
    headers  sends a header of `bytes` bytes; body: an answer of `bytes` bytes"""

    def __init__(self, words):
        self.words = words
        self.left = words.get("times", 1)

    def fits(self, host, path):
        return self.left > 0 and self.words.get("host", host) == host and re.search(self.words["on"], path)


class Hub:
    def __init__(self, root):
        self.root = Path(root)
        self.lock = threading.Lock()
        self.faults, self.log, self.listings = [], [], {}

    def fault(self, host, path):
        with self.lock:
            for fault in self.faults:
                if fault.fits(host, path):
                    fault.left -= 1
                    return fault.words
        return {}

    def command(self, words):
        with self.lock:
            if words["cmd"] == "fault":
                self.faults.append(Fault(words))
            elif words["cmd"] == "clear":
                self.faults, self.log, self.listings = [], [], {}
            elif words["cmd"] == "listing":
                self.listings[words["repository"]] = words["siblings"]
            elif words["cmd"] == "log":
                return self.log
            return {}

    def commit(self, repository):
        folder = self.root / repository
        names = sorted(f"{p.relative_to(folder)} {p.stat().st_size}" for p in folder.rglob("*") if p.is_file())
        return hashlib.sha1("\n".join([repository, *names]).encode()).hexdigest()

    def siblings(self, repository):
        if repository in self.listings:
            return self.listings[repository]
        folder = self.root / repository
        return [self.sibling(p, str(p.relative_to(folder))) for p in sorted(folder.rglob("*")) if p.is_file()]

    def sibling(self, path, name):
        size = path.stat().st_size
        entry = {"rfilename": name, "size": size, "blobId": git_blob(path)}
        if size >= LFS_BYTES:
            entry["lfs"] = {"sha256": sha256(path), "size": size, "pointerSize": 134}
        return entry


CACHE = {}


def cached(function):
    def wrapper(path):
        stat = path.stat()
        key = (function.__name__, str(path), stat.st_mtime_ns, stat.st_size)
        if key not in CACHE:
            CACHE[key] = function(path)
        return CACHE[key]

    return wrapper


@cached
def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cached
def git_blob(path):
    data = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 120

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.answer()

    def answer(self):
        self.entry = {"host": self.server.role, "method": self.command, "path": self.path, "range": self.headers.get("Range"),
                      "authorization": self.headers.get("Authorization"), "sent": 0}  # fmt: skip
        with self.server.hub.lock:
            self.server.hub.log.append(self.entry)
        self.fault = self.server.hub.fault(self.server.role, self.path)
        try:
            if not self.faulty_head():
                self.route(unquote(urlsplit(self.path).path))
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError, TimeoutError):
            self.close_connection = True

    def faulty_head(self):
        kind = self.fault.get("kind")
        if kind == "status":
            after = {"Retry-After": str(self.fault["after"])} if "after" in self.fault else {}
            self.small(self.fault["status"], b"no", after)
        elif kind == "redirect":
            self.small(302, b"", {"Location": self.fault["to"]})
        elif kind == "loop":
            self.small(302, b"", {"Location": self.path})
        elif kind == "headers":
            # Python's client and curl have limits of their own for one line.
            self.small(200, b"", {f"X-Filler-{i}": "x" * 4000 for i in range(self.fault["bytes"] // 4000)})
        elif kind == "body":
            self.large(self.fault["bytes"])
        else:
            return False
        return True

    def small(self, status, body, headers):
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def large(self, size):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for _ in range(size // PIECE):
            self.wfile.write(b"%x\r\n" % PIECE + b" " * PIECE + b"\r\n")
            self.entry["sent"] += PIECE
        self.wfile.write(b"0\r\n\r\n")

    def route(self, path):
        api = re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/(.+))?", path)
        tree = re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/([^/]+)", path)
        file = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        plain = re.fullmatch(r"/(?:blob|plain)/(.+)", path)
        if api:
            self.serve_listing(api[1], api[2] or "main")
        elif tree and (self.server.hub.root / tree[1]).is_dir():
            self.serve_tree(tree[1])
        elif file:
            self.serve_resolve(file[1], file[2], file[3])
        elif plain and (self.server.hub.root / plain[1]).is_file():
            self.serve_file(self.server.hub.root / plain[1], {})
        else:
            self.small(404, b"not found", {"X-Error-Code": "EntryNotFound"})

    def serve_listing(self, repository, revision):
        hub = self.server.hub
        if not (hub.root / repository).is_dir():
            return self.small(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        commit = hub.commit(repository)
        if revision not in ("main", commit):
            return self.small(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        answer = {"id": repository, "modelId": repository, "sha": commit, "private": False, "tags": [], "downloads": 0, "likes": 0,
                  "siblings": hub.siblings(repository)}  # fmt: skip
        body = json.dumps(answer).encode()
        self.send_body(200, len(body), {"Content-Type": "application/json"}, body)

    def serve_tree(self, repository):
        """The listing in the form that newer versions of huggingface_hub ask for."""
        files = []
        for entry in self.server.hub.siblings(repository):
            files.append({"type": "file", "oid": entry["blobId"], "size": entry["size"], "path": entry["rfilename"]})
            if "lfs" in entry:
                files[-1]["lfs"] = {"oid": entry["lfs"]["sha256"], "size": entry["size"], "pointerSize": 134}
        body = json.dumps(files).encode()
        self.send_body(200, len(body), {"Content-Type": "application/json"}, body)

    def serve_resolve(self, repository, revision, name):
        hub = self.server.hub
        path = hub.root / repository / name
        if not path.is_file():
            return self.small(404, b"not found", {"X-Error-Code": "EntryNotFound"})
        headers = {"X-Repo-Commit": hub.commit(repository)}
        if path.stat().st_size < LFS_BYTES:
            return self.serve_file(path, {**headers, "ETag": f'"{git_blob(path)}"'})
        headers |= {"X-Linked-Size": str(path.stat().st_size), "X-Linked-Etag": f'"{sha256(path)}"',
                    "Location": f"{self.server.cdn}/blob/{repository}/{name}"}  # fmt: skip
        self.small(302, b"", headers)

    def serve_file(self, path, headers):
        size = path.stat().st_size
        begin, end, status = 0, size, 200
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        kind = self.fault.get("kind")
        if asked and kind != "ignore_range":
            begin, end, status = int(asked[1]), min(size, int(asked[2] or size) + 1), 206
            if begin >= size:
                return self.small(416, b"", {"Content-Range": f"bytes */{size}"})
        says = begin + 1 if kind == "range" else begin
        if status == 206:
            headers = {**headers, "Content-Range": f"bytes {says}-{end - 1}/{size}"}
        headers = {"Accept-Ranges": "bytes", "ETag": f'"{sha256(path)}"', **headers}
        self.send_file(status, path, begin, end, headers)

    def send_file(self, status, path, begin, end, headers):
        if not self.fault and self.command == "GET" and not isinstance(self.connection, ssl.SSLSocket):
            self.head(status, end - begin, headers)
            with open(path, "rb") as file:
                self.wfile.flush()
                self.entry["sent"] += self.connection.sendfile(file, begin, end - begin)
            return
        with open(path, "rb") as file:
            file.seek(begin)
            self.send_body(status, end - begin, headers, file.read(end - begin), begin)

    def head(self, status, length, headers):
        self.send_response(status)
        for key, value in {"Content-Length": str(length), "Date": email.utils.formatdate(usegmt=True), **headers}.items():
            self.send_header(key, value)
        self.end_headers()

    def send_body(self, status, length, headers, body, begin=0):
        """`body` is the file from byte `begin` on."""
        kind, by = self.fault.get("kind"), self.fault.get("by", 0)
        if kind == "short":
            body = body[:-by]
        elif kind == "long":
            body = body + b"x" * by
        self.head(status, len(body) + (by if kind == "length" else 0), headers)
        if self.command == "HEAD":
            return
        at = self.fault.get("at", 0) - begin
        if kind == "flip" and 0 <= at < len(body):
            body = body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
        if kind in ("cut", "reset", "stall", "drip") and 0 <= at <= len(body):
            return self.break_off(kind, body, at)
        self.send(body)
        if kind == "length":
            self.close_connection = True

    def break_off(self, kind, body, at):
        self.send(body[:at])
        self.wfile.flush()
        if kind == "drip":
            for i in range(at, min(at + 200, len(body))):
                self.send(body[i : i + 1])
            return self.send(body[at + 200 :])
        self.close_connection = True
        if kind == "stall":
            self.entry["stalled"] = True
            self.connection.settimeout(60)
            self.connection.recv(1)  # until the client hangs up
        elif kind == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def send(self, body):
        for at in range(0, len(body), PIECE):
            self.wfile.write(body[at : at + PIECE])
            self.entry["sent"] += len(body[at : at + PIECE])


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, hub, role, tls):
        super().__init__(("127.0.0.1", 0), Handler)
        self.hub, self.role, self.tls = hub, role, tls
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.server_port}"

    def finish_request(self, request, client_address):
        if self.tls:  # in the connection's own thread, so that a slow handshake holds nobody up
            request = self.tls.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)

    def handle_error(self, *_):
        pass  # a client that hangs up is no news


def certificate(folder, name):
    kind = "IP" if re.fullmatch(r"[\d.]+", name) else "DNS"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=fake hub", "-addext", f"subjectAltName={kind}:{name}", "-keyout", f"{folder}/key.pem", "-out",
         f"{folder}/ca.pem"], check=True, capture_output=True)  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/ca.pem", f"{folder}/key.pem")
    return context


def main():
    tls_name = sys.argv[3] if sys.argv[2:3] == ["--tls"] else None
    hub = Hub(sys.argv[1])
    folder = tempfile.mkdtemp(prefix="fake-hub-")
    tls = certificate(folder, tls_name) if tls_name else None
    front, cdn = Server(hub, "hub", tls), Server(hub, "cdn", tls)
    front.cdn = cdn.cdn = cdn.url
    for server in (front, cdn):
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    print(json.dumps({"hub": front.url, "cdn": cdn.url, "ca": f"{folder}/ca.pem"}), flush=True)
    for line in sys.stdin:
        print(json.dumps(hub.command(json.loads(line))), flush=True)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
