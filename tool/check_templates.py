#!/usr/bin/env python3
"""Compares `mummu template` with the reference, in full text: every template x conversation x tools of golden/jinja.

    python3 tool/check_templates.py PATH/TO/mummu [--templates FOLDER] [--only PART_OF_A_NAME]

Prints the first difference of each cell that is not equal (and not refused by both); the exit status is 1 then.
"""
import argparse
import datetime
import glob
import json
import os
import subprocess
import sys
import tempfile

import make_template_golden as golden
import template_reference as reference


def ours(program, template, conversation, tools, folder):
    """What the program prints, or None with its message where it refuses."""

    def written(name, value):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False)
        return path

    now = datetime.datetime.fromtimestamp(reference.NOW, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    kwargs = dict(reference.TOKENS, **conversation.get("kwargs", {}))
    command = [program, "template", "--template", template, "--now", now, "--kwargs", json.dumps(kwargs)]
    command += ["--messages", written("messages.json", conversation["messages"])]
    if tools is not None:
        command += ["--tools", written("tools.json", tools)]
    if "documents" in conversation:
        command += ["--documents", written("documents.json", conversation["documents"])]
    if not conversation.get("add_generation_prompt", True):
        command.append("--no-generation-prompt")
    done = subprocess.run(command, capture_output=True)
    if done.returncode != 0:
        return None, done.stderr.decode("utf-8", "replace").strip()
    return done.stdout.decode("utf-8"), ""


def show_difference(where, expected, got, message):
    print(where)
    if expected is None or got is None:
        refusal = f"the reference refuses: {reference.render.error!r}" if expected is None else f"we refuse: {message}"
        print("   ", refusal)
        return
    at = next((i for i, (a, b) in enumerate(zip(expected, got)) if a != b), min(len(expected), len(got)))
    print("    expected", repr(expected[max(0, at - 40) : at + 60]))
    print("    got     ", repr(got[max(0, at - 40) : at + 60]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--templates", default=os.path.join(golden.FIXTURES, "templates"))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    paths = [p for p in sorted(glob.glob(os.path.join(options.templates, "*.jinja"))) if options.only in p]
    counts = {"equal": 0, "both refuse": 0, "different": 0}
    with tempfile.TemporaryDirectory() as folder:
        for number, path in enumerate(paths):
            if sys.stderr.isatty():
                print(f"\r{number + 1}/{len(paths)} {os.path.basename(path)}\033[K", end="", file=sys.stderr)
            template = reference.compile_template(golden.read_template(path))
            for name, conversation in golden.conversations():
                for tools_name, tools in golden.tool_sets():
                    expected = reference.render(template, conversation, tools)
                    got, message = ours(options.program, path, conversation, tools, folder)
                    if expected == got:
                        counts["both refuse" if got is None else "equal"] += 1
                        continue
                    counts["different"] += 1
                    show_difference(f"{os.path.basename(path)} {name} {tools_name}", expected, got, message)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
