#!/usr/bin/env python3
"""Writes what the reference (jinja2 set up as transformers does) makes of chat templates.

golden/jinja/templates.txt   a line a template and conversation: for no tools, tools/simple.json and
                             tools/rich.json the length in bytes and FNV-1a hash of the rendering,
                             or ! where the reference refuses
golden/jinja/features.txt    the `expect` and `refuse` lines of the table of single features

    python3 tool/make_template_golden.py [--check] [--templates FOLDER]

With --check nothing is written; the exit status is 1 where a file would change.
"""
import argparse
import glob
import json
import os
import sys

import template_reference as reference

GOLDEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "jinja")
FIXTURES = os.environ.get("MUMMU_FIXTURES") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "mummu", "fixtures"
)


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def cell(text):
    if text is None:
        return "!"
    data = text.encode("utf-8")
    return f"{len(data)}:{fnv1a(data):016x}"


def conversations():
    for path in sorted(glob.glob(os.path.join(GOLDEN, "conversations", "*.json"))):
        yield os.path.basename(path)[: -len(".json")], reference.load_json(path)


def tool_sets():
    yield "none", None
    for name in ("simple", "rich"):
        yield name, reference.load_json(os.path.join(GOLDEN, "tools", name + ".json"))


def read_template(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def template_lines(folder):
    yield "# Made by tool/make_template_golden.py: template, conversation, then without, with simple, with rich tools."
    for path in sorted(glob.glob(os.path.join(folder, "*.jinja"))):
        template = reference.compile_template(read_template(path))
        for name, conversation in conversations():
            cells = [cell(reference.render(template, conversation, tools)) for _, tools in tool_sets()]
            yield " ".join([os.path.basename(path), name, *cells])


def spelled(text):
    """A value of the table: as it is, or as a JSON string where that would not survive a line of a file."""
    plain = text and text == text.strip() and not text.startswith('"') and text.isprintable()
    return text if plain else json.dumps(text, ensure_ascii=False)


def value_of(text):
    return json.loads(text) if text.startswith('"') else text


def feature_lines(lines):
    variables, source = {}, None
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "vars":
            variables = json.loads(rest)
        elif word == "template":
            source = value_of(rest)
        elif word in ("expect", "refuse"):
            yield outcome(source, variables, line)
            continue
        yield line


def outcome(source, variables, line):
    try:
        text = reference.compile_template(source).render(
            messages=[], tools=None, documents=None, add_generation_prompt=True, **variables
        )
        return "expect " + spelled(text)
    except Exception:
        return line if line.startswith("refuse") else "refuse"


def update(name, lines, check):
    path = os.path.join(GOLDEN, name)
    new = "\n".join(lines) + "\n"
    old = read_template(path) if os.path.exists(path) else ""
    if new == old:
        return True
    if check:
        print(f"{path} differs from what the reference makes")
        return False
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(new)
    print(f"{path} written")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--templates", default=os.path.join(FIXTURES, "templates"))
    options = parser.parse_args()
    table = read_template(os.path.join(GOLDEN, "features.txt")).rstrip("\n").split("\n")
    same = update("features.txt", list(feature_lines(table)), options.check)
    same = update("templates.txt", list(template_lines(options.templates)), options.check) and same
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
