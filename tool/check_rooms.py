#!/usr/bin/env python3
"""Checks that rooms (the folders of src/) include only what stands below them.

Needs no argument and no build: `tool/check_rooms.py`. One line for each violation, exit status 1.
`--self-test` breaks every rule once in a temporary tree and expects to be told.
There is no list of exceptions: a new room, public header or third-party library gets a line in the
tables below, and MAP.md says why it is there.
"""

import re
import sys
import tempfile
from pathlib import Path

# What each room sees besides itself.
BELOW = {
    "base": [],
    "file": ["base"],
    "text": ["base", "file"],
    "device": ["base"],
    "layer": ["base", "device"],
    "model": ["base", "file", "text", "device", "layer"],
    "engine": ["base", "file", "text", "device", "layer", "model"],
    "async": ["base", "file", "text", "device", "layer", "model", "engine"],
    "hub": ["base", "file", "async"],
    "server": [],  # built on the public headers alone
}

# The room that a public header belongs to. Rooms above it may include it, rooms below may not.
PUBLIC = {
    "export": "base", "result": "base", "log": "base", "version": "base", "thread_facts": "base",
    "tokenizer": "text", "chat": "text", "device": "device", "model": "model",
    "request": "engine", "constraint": "engine", "json_mode": "engine", "engine": "engine", "generate": "engine",
    "logits": "engine", "embed": "engine",
    "callback": "async", "pull": "async", "event_stream": "async", "resume": "async", "await": "async",
    "task": "async", "stream": "async", "worker": "async", "slot": "async", "load": "async", "turn": "async",
    "asio": "async", "hub": "hub", "downloader": "hub", "model_store": "hub",
}  # fmt: skip
ONLY_PUBLIC = ["app", "example", "src/server"]  # see "mummu/..." and their own files

# <header> or <folder/...> of third-party code -> the rooms (and top folders) that may use it.
THIRD_PARTY = {
    "fmt": None, "nlohmann": None,  # None: every room
    "xxhash.h": ["base", "engine"], "utf8proc.h": ["text"], "pcre2.h": ["text"],
    "curl": ["hub"], "boost": ["async", "server", "app", "example"],
    "openssl": ["hub", "server"], "CLI": ["app"], "spdlog": ["app"], "histedit.h": ["app"],
    "benchmark": ["bench"], "gtest": None, "gmock": None,
}  # fmt: skip
ONLY_IN_CPP = ["nlohmann", "boost", "curl", "openssl"]  # heavy or leaky: never in a header
SYSTEM = re.compile(  # the platform's own: POSIX, Linux, compiler intrinsics
    r"^(sys/|linux/|unistd\.h|malloc\.h|spawn\.h|fcntl\.h|sched\.h|poll\.h|dirent\.h|signal\.h|pthread\.h|"
    r"cpuid\.h|immintrin\.h|xmmintrin\.h|arm_neon\.h|cxxabi\.h|termios\.h|netdb\.h|arpa/|netinet/)"
)
STANDARD = re.compile(r"^[a-z_0-9]+$")  # <vector>, <cstdint>: the standard library has no suffix
THREADS = ["thread", "mutex", "shared_mutex", "condition_variable", "future", "coroutine",
           "semaphore", "latch", "barrier", "pthread.h"]  # fmt: skip
# Kernels are compiled once for each instruction set: they and the headers they see hold no code
# that another object could share (tool/check_weak_symbols.sh looks at what came out).
KERNEL_FOLDER = "src/device/cpu/kernel/"
KERNEL_HEADERS = ["device/cpu/kernels.h", "device/exp.h", "device/gelu.h", "base/dtype.h"]
KERNEL_STANDARD = ["cstddef", "cstdint", "immintrin.h", "arm_neon.h", "string_view", "optional"]
# For *_test.cpp and fuzzers.
TEST_HEADERS = ["base/test_fixture.h", "base/sanitized.h", "base/count_allocations.h"]
LONG_FILE = 400

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
COMMENT_OR_LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Source:
    """One C++ file: where it stands, what it includes (line, name, is_quoted)."""

    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8", errors="replace")
        parts = self.path.split("/")
        self.room = parts[1] if parts[0] == "src" and len(parts) > 2 else None
        self.top = parts[0]
        self.is_public = self.path.startswith("include/mummu/")
        if self.is_public:
            self.room = PUBLIC.get(path.stem)
        self.is_test = (
            path.stem.endswith(("_test", "_fuzz"))
            or "test" in parts[2:-1]
            or self.path[4:] in TEST_HEADERS
        )
        self.is_header = path.suffix == ".h"
        bare = COMMENT.sub(lambda m: "\n" * m.group().count("\n"), self.text)
        self.includes = [
            (bare.count("\n", 0, m.start()) + 1, m.group(1) or m.group(2), bool(m.group(1)))
            for m in INCLUDE.finditer(bare)
        ]

    def lines_with(self, word):
        """Line numbers where `word` stands as code, outside comments and literals."""
        code = COMMENT_OR_LITERAL.sub(lambda m: "\n" * m.group().count("\n"), self.text)
        for number, line in enumerate(code.split("\n"), 1):
            if re.search(rf"\b{word}\b", line):
                yield number


def sources(root):
    for folder in ["include", "src", "app", "example", "bench"]:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp", ".inc", ".hpp") and path.is_file():
                yield Source(root, path)


def first_folder(name):
    return name.split("/")[0]


def sees(room, other):
    return room == other or other in BELOW[room]


def check_places(root, source):
    """Every file stands in a known room; every public header belongs to one."""
    if source.top == "src" and source.room not in BELOW:
        yield 1, "src/ has only the rooms of the table in tool/check_rooms.py"
    if source.is_public and source.room is None:
        yield 1, "a new public header: say in tool/check_rooms.py which room it belongs to"


def check_quoted(root, source):
    """ "room/x.h" only from a room below; "mummu/x.h" only where its room may be seen."""
    only_public = any(source.path.startswith(folder + "/") for folder in ONLY_PUBLIC)
    for line, name, is_quoted in source.includes:
        if not is_quoted:
            if first_folder(name) == "mummu" or first_folder(name) in BELOW:
                yield line, f'our own headers are included in quotes: "{name}"'
            continue
        if name.startswith("mummu/"):
            owner = PUBLIC.get(Path(name).stem)
            if owner is None or not (root / "include" / name).is_file():
                yield line, f'"{name}" is no public header'
            elif not only_public and source.room in BELOW and not sees(source.room, owner):
                yield line, f'"{name}" belongs to {owner}, which {source.room} does not see'
        elif only_public:
            if not is_own_file(root, source, name):
                yield line, f'"{name}" is private: {source.path} sees "mummu/..." and its own files'
        elif source.is_public:
            yield line, f'a public header includes only "mummu/...", not "{name}"'
        elif first_folder(name) not in BELOW or not (root / "src" / name).is_file():
            yield line, f'"{name}" is not written from src/ ("room/file.h")'
        elif (name in TEST_HEADERS or "/test/" in name) and not source.is_test:
            yield line, f'"{name}" is for tests only'
        elif source.room in BELOW and not sees(source.room, first_folder(name)):
            yield line, f'"{name}": {source.room} does not see {first_folder(name)}'


def is_own_file(root, source, name):
    """app/ and the like may name their own files from their folder or from the top."""
    folder = (root / source.path).parent
    own = next(f for f in ONLY_PUBLIC if source.path.startswith(f + "/"))
    candidates = [folder / name, root / own / name, root / name, root / "src" / name]
    return any(c.is_file() and c.resolve().is_relative_to((root / own).resolve()) for c in candidates)


def check_angled(root, source):
    """Third-party headers only where the table says, and none in include/ (but asio.h)."""
    place = source.room if source.top in ("src", "include") else source.top
    for line, name, is_quoted in source.includes:
        if is_quoted or STANDARD.match(name):
            continue
        key = first_folder(name)
        if source.is_public:
            if not (source.path == "include/mummu/asio.h" and key == "boost"):
                yield line, f"<{name}>: public headers use the standard library only"
        elif key in THIRD_PARTY:
            rooms = THIRD_PARTY[key]
            if rooms is not None and place not in rooms:
                yield line, f"<{name}> is for {', '.join(rooms)} only"
            elif source.is_header and key in ONLY_IN_CPP and name != "nlohmann/json_fwd.hpp":
                yield line, f"<{name}> is for .cpp files only"
            elif key in ("gtest", "gmock") and not source.is_test:
                yield line, f"<{name}> is for tests only"
        elif not SYSTEM.match(name) and key not in BELOW and key != "mummu":
            yield line, f"<{name}> is a library that the table in tool/check_rooms.py does not name"


def check_threads(root, source):
    """No thread, lock, future or coroutine below async, but in the device's Parallel pool."""
    is_pool = re.match(r"^src/device/(.*/)?threads\.(h|cpp)$", source.path)
    if source.room not in BELOW["async"] or source.is_test or is_pool:
        return
    for line, name, is_quoted in source.includes:
        if not is_quoted and name in THREADS:
            yield line, f"<{name}>: everything up to the engine is synchronous"


def check_throw(root, source):
    """We write no throw (tests may: a host's callback can; edge.h passes on the end of a thread)."""
    if source.top in ("src", "include") and not source.is_test and source.path != "src/base/edge.h":
        for line in source.lines_with("throw"):
            yield line, "throw: return a Result instead"


def check_devices(root, source):
    """reference/ and cpu/ share no code, so that one can prove the other."""
    for one, other in (("reference", "cpu"), ("cpu", "reference")):
        if source.path.startswith(f"src/device/{one}/") and not source.is_test:
            for line, name, is_quoted in source.includes:
                if is_quoted and name.startswith(f"device/{other}/"):
                    yield line, f'"{name}": reference/ and cpu/ share no code'


def check_kernels(root, source):
    """Kernels, and the headers they share with others, include next to nothing."""
    is_kernel = source.path.startswith(KERNEL_FOLDER)
    if not is_kernel and source.path[4:] not in KERNEL_HEADERS:
        return
    for line, name, is_quoted in source.includes:
        own = is_kernel and f"src/{name}".startswith(KERNEL_FOLDER)
        if not own and name not in (KERNEL_HEADERS if is_quoted else KERNEL_STANDARD):
            yield line, f"{name}: a kernel sees only its folder and {', '.join(KERNEL_HEADERS)}"


CHECKS = [check_places, check_quoted, check_angled, check_threads, check_throw, check_devices, check_kernels]


def check_tree(root):
    """Returns (violations, warnings, number of files) as printable lines."""
    violations, warnings, count = [], [], 0
    for source in sources(root):
        count += 1
        for check in CHECKS:
            violations += [f"{source.path}:{line}: {text}" for line, text in check(root, source)]
        lines = source.text.count("\n")
        if lines > LONG_FILE and "do not edit" not in source.text[:400]:
            warnings.append(f"{source.path}: {lines} lines, over {LONG_FILE}: its top says why")
    return violations, warnings, count


# The self-test: a clean tree, then each line of BROKEN added to it alone must be told.
CLEAN = {
    "include/mummu/result.h": "#include <string>\n",
    "include/mummu/device.h": '#include "mummu/result.h"\n',
    "include/mummu/engine.h": '#include "mummu/device.h"\n#include <functional>\n',
    "src/base/fail.h": '#include "mummu/result.h"\n// a comment may say throw\n',
    "src/base/edge.h": '#include "mummu/result.h"\nvoid f() { try { g(); } catch (...) { throw; } }\n',
    "src/base/test_fixture.h": "#include <gtest/gtest.h>\n",
    "src/file/json.h": "#include <nlohmann/json_fwd.hpp>\n",
    "src/file/json.cpp": '#include "file/json.h"\n#include <fcntl.h>\n#include <nlohmann/json.hpp>\n',
    "src/device/cpu/kernel/simd.h": "#include <immintrin.h>\n",
    "src/device/cpu/kernel/add.cpp": '#include "device/cpu/kernel/simd.h"\n',
    "src/device/reference/add.cpp": '#include "base/fail.h"\nauto s = "throw";\n',
    "src/device/threads.cpp": "#include <thread>\n",
    "src/engine/engine.cpp": '#include "mummu/engine.h"\n#include "base/fail.h"\n',
    "src/engine/engine_test.cpp": "#include <gtest/gtest.h>\n#include <thread>\nvoid f() { throw 1; }\n",
    "src/async/worker.cpp": '#include "mummu/engine.h"\n#include <mutex>\n',
    "app/run.h": '#include "mummu/engine.h"\n',
    "app/run.cpp": '#include "run.h"\n#include <CLI/CLI.hpp>\n',
}
BROKEN = [
    ("src/util/x.h", "int x;", "only the rooms of the table"),
    ("include/mummu/fresh.h", "int x;", "a new public header"),
    ("src/base/x.cpp", '#include "file/json.h"', "base does not see file"),
    ("src/layer/x.cpp", '#include "file/json.h"', "layer does not see file"),
    ("src/device/x.cpp", '#include "mummu/engine.h"', "device does not see"),
    ("src/engine/x.cpp", '#include "gone.h"', "is not written from src/"),
    ("src/engine/x.cpp", '#include "mummu/gone.h"', "is no public header"),
    ("src/engine/x.cpp", "#include <base/fail.h>", "included in quotes"),
    ("include/mummu/log.h", '#include "base/fail.h"', 'includes only "mummu/..."'),
    ("include/mummu/log.h", "#include <fmt/format.h>", "standard library only"),
    ("app/x.cpp", '#include "base/fail.h"', "is private"),
    ("src/server/x.cpp", '#include "engine/engine.h"', "is private"),
    ("src/file/x.h", "#include <nlohmann/json.hpp>", "for .cpp files only"),
    ("src/engine/x.cpp", "#include <boost/asio.hpp>", "only"),
    ("src/engine/x.cpp", "#include <gtest/gtest.h>", "for tests only"),
    ("src/engine/x.cpp", '#include "base/test_fixture.h"', "for tests only"),
    ("src/engine/x.cpp", "#include <some/library.h>", "does not name"),
    ("src/engine/x.cpp", "#include <coroutine>", "is synchronous"),
    ("include/mummu/model.h", "#include <mutex>", "is synchronous"),
    ("src/engine/x.cpp", "void f() { throw 1; }", "return a Result"),
    ("src/device/reference/x.cpp", '#include "device/cpu/kernel/simd.h"', "share no code"),
    ("src/device/cpu/kernel/x.cpp", "#include <vector>", "a kernel sees only"),
    ("src/device/cpu/kernel/x.cpp", '#include "base/fail.h"', "a kernel sees only"),
    ("src/device/cpu/x.cpp", '#include "device/reference/add.h"', "share no code"),
]


def write_tree(root, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def self_test():
    failed = 0
    for path, text, expected in [("", "", None)] + BROKEN:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            write_tree(root, CLEAN)
            if path:
                write_tree(root, {path: text + "\n"})
            violations = check_tree(root)[0]
        right = not violations if expected is None else any(
            v.startswith(f"{path}:1: ") and expected in v for v in violations
        )
        if not right:
            failed += 1
            print(f"self-test: {path or 'a clean tree'}: {text}\n  told: {violations}")
    print(f"{len(BROKEN) + 1 - failed} passed, {failed} failed")
    return failed == 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    if sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    violations, warnings, count = check_tree(Path(__file__).resolve().parent.parent)
    for line in warnings:
        print(f"warning: {line}")
    for line in violations:
        print(line)
    print(f"{count} files, {len(violations)} violations, {len(warnings)} long files")
    return 1 if violations or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
