#!/usr/bin/env python3
"""Runs `mummu batch` as its user would: every line gets the answer that `mummu run` gives, or an error of its own; a run that
was killed goes on where it stopped. Usage: batch_test.py MUMMU_BINARY"""

import json
import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cli_test
from cli_test import BINARY, MODEL, expect, mummu, refused

URL = "/v1/chat/completions"


def line(custom_id, content="Say hi.", **fields):
    body = {"messages": [{"role": "user", "content": content}], "max_tokens": 8, **fields}
    body = {name: value for name, value in body.items() if value is not ...}
    return {"custom_id": custom_id, "method": "POST", "url": URL, "body": body}


class Folder:
    """A temporary folder with an input and an output."""

    def __init__(self, folder, name):
        self.input = os.path.join(folder, name + ".in.jsonl")
        self.output = os.path.join(folder, name + ".out.jsonl")
        self.part = self.output + ".part"

    def put(self, lines):
        with open(self.input, "w", encoding="utf-8") as file:
            for item in lines:
                file.write((item if isinstance(item, str) else json.dumps(item)) + "\n")

    def words(self, *more):
        return ("batch", MODEL, "--input", self.input, "--output", self.output, *more)

    def answers(self):
        with open(self.output, encoding="utf-8") as file:
            return [json.loads(text) for text in file]

    def run(self, lines, *more):
        self.put(lines)
        done = mummu(*self.words(*more))
        expect("batch", done.returncode == 0, done.stderr)
        expect("batch is silent on stdout", done.stdout == b"", done.stdout)
        expect("no progress on a pipe", b"\r" not in done.stderr and b"tok/s" in done.stderr, done.stderr)
        return self.answers() if done.returncode == 0 else []


def text_of(answer):
    return answer["response"]["body"]["choices"][0]["message"]["content"]


def answers_like_run(folder):
    """The answer of a line in a crowd is that of `mummu run`, to the last character."""
    cases = [
        ("Why is the sea salty?", {"max_tokens": 24}, []),
        ("Why is the sea salty?", {"max_tokens": 24, "temperature": 0.7, "top_p": 0.9, "seed": 42},
         ["--temperature", "0.7", "--top-p", "0.9", "--seed", "42"]),
        ("Name three fish.", {"max_tokens": 24, "temperature": 1.3, "top_k": 20, "min_p": 0.05, "seed": 7},
         ["--temperature", "1.3", "--top-k", "20", "--min-p", "0.05", "--seed", "7"]),
        ("Name three fish.", {"max_completion_tokens": 24, "max_tokens": None, "stop": ["2.", "zebra"]},
         ["--stop", "2.", "--stop", "zebra"]),
        ("Count to ten.", {"max_tokens": 24, "repetition_penalty": 1.3, "presence_penalty": 0.5, "frequency_penalty": 0.2},
         ["--repetition-penalty", "1.3", "--presence-penalty", "0.5", "--frequency-penalty", "0.2"]),
        ("A fish as JSON.", {"max_tokens": 24, "response_format": {"type": "json_object"}}, ["--json-mode"]),
    ]
    crowd = [line(f"crowd {i}", f"Tell me about the number {i}.", max_tokens=24) for i in range(20)]
    lines = [line(str(i), content, **fields) for i, (content, fields, _) in enumerate(cases)]
    answers = Folder(folder, "like_run").run(crowd[:10] + lines + crowd[10:])
    for i, (content, fields, words) in enumerate(cases):
        alone = json.loads(mummu("run", MODEL, content, "--max-tokens", "24", "--json", *words).stdout)
        answer = answers[10 + i]
        body = answer["response"]["body"]
        expect(f"answer of {fields}", text_of(answer) == alone["text"], [answer, alone])
        expect("usage", body["usage"]["completion_tokens"] == len(alone["ids"]), [answer, alone])
        expect("usage", body["usage"]["prompt_tokens"] == alone["usage"]["prompt_tokens"], [answer, alone])
        expect("finish_reason", body["choices"][0]["finish_reason"] == alone["finish"], [answer, alone])


def shapes(folder):
    answers = Folder(folder, "shapes").run([
        line("plain", model="some-other-model"),
        line("parts", [{"type": "text", "text": "Say"}, {"type": "text", "text": "hi."}]),
        line("joined", "Say\nhi."),
        line("n", n=3, temperature=1, seed=5),
        line("logprobs", logprobs=True, top_logprobs=3),
        line("json", "Describe a fish as JSON.", max_tokens=200, response_format={"type": "json_object"}, temperature=0.8,
             repetition_penalty=1.2),
        line("ban", logit_bias={"28120": -100}),
        line("nulls", stop=None, tools=None, seed=None, stream=None, temperature=None, stream_options=None),
        line("services", user="me", store=False, stream=False, service_tier="auto", modalities=["text"]),
        line("system", messages=[{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Say hi."}]),
    ])
    expect("order kept", [a["custom_id"] for a in answers][:3] == ["plain", "parts", "joined"], answers)
    by_id = {answer["custom_id"]: answer for answer in answers}
    for answer in answers:
        expect("status", answer["response"]["status_code"] == 200 and answer["error"] is None, answer)
    body = by_id["plain"]["response"]["body"]
    expect("object", body["object"] == "chat.completion" and isinstance(body["created"], int), body)
    expect("model", body["model"] == "SmolLM2-135M-Instruct.Q4_1", body)
    usage = body["usage"]
    expect("usage", usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0, usage)
    expect("parts are joined by a newline", text_of(by_id["parts"]) == text_of(by_id["joined"]), by_id["parts"])
    expect("nulls are absent fields", text_of(by_id["nulls"]) == text_of(by_id["plain"]), by_id["nulls"])
    choices = by_id["n"]["response"]["body"]["choices"]
    expect("n choices", [c["index"] for c in choices] == [0, 1, 2], choices)
    expect("n choices", len({c["message"]["content"] for c in choices}) > 1, choices)
    content = by_id["logprobs"]["response"]["body"]["choices"][0]["logprobs"]["content"]
    expect("logprobs", bytes(b for t in content for b in t["bytes"]).decode() == text_of(by_id["logprobs"]), content)
    for token in content:
        top = token["top_logprobs"]
        expect("top_logprobs", len(top) == 3 and top[0]["logprob"] >= top[2]["logprob"], token)
        expect("greedy takes the first", token["token"] == top[0]["token"] and token["logprob"] == top[0]["logprob"], token)
    choice = by_id["json"]["response"]["body"]["choices"][0]
    if choice["finish_reason"] == "stop":
        expect("json_object", isinstance(json.loads(choice["message"]["content"]), dict), choice)


def bad_lines(folder):
    """Each bad line is refused by name, and the good ones around it are answered."""
    good = line("good")
    user = {"role": "user", "content": "hi"}
    image = {"type": "image_url", "image_url": {"url": "x"}}
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    cases = [  # the line, what its error must say, its param
        ("{broken", ["JSON"], None),
        ("[1, 2]", ["JSON object"], None),
        ("[" * 1000 + "]" * 1000, ["nested"], None),
        ('{"custom_id": "\xff"}'.encode("latin-1").decode("utf-8", "surrogateescape"), ["UTF-8"], None),
        ({**good, "custom_id": "b1", "method": "GET"}, ["method", "POST", "GET"], "method"),
        ({**good, "custom_id": "b2", "url": "/v1/embeddings"}, ["url", URL, "embeddings"], "url"),
        ({**good, "custom_id": 7}, ["custom_id"], "custom_id"),
        (good, ["custom_id", "good"], "custom_id"),
        ({**good, "custom_id": "b3", "extra": 1}, ["extra"], "extra"),
        ({**good, "custom_id": "b4", "body": None}, ["body"], "body"),
        (line("c1", "word " * 9000), ["tokens", "8192"], "messages"),
        (line("c2", messages=[]), ["messages"], "messages"),
        (line("c3", messages=...), ["messages"], "messages"),
        (line("c4", messages=[{**user, "role": "boss"}]), ["role", "boss"], "messages[0].role"),
        (line("c5", [image]), ["image_url"], "messages[0].content[0].type"),
        (line("c6", messages=[user, {"role": "assistant"}]), ["content"], "messages[1].content"),
        (line("c7", messages=[{**user, "mood": "good"}]), ["mood"], "messages[0].mood"),
        (line("d1", stream=True), ["stream"], "stream"),
        (line("d2", temperature=-1), ["temperature", "-1"], "temperature"),
        (line("d3", temperature="hot"), ["temperature", "hot"], "temperature"),
        (line("d4", top_p=0), ["top_p"], "top_p"),
        (line("d5", n=100), ["n ", "64", "100"], "n"),
        (line("d6", max_tokens=0), ["max_tokens"], "max_tokens"),
        (line("d7", max_tokens=4, max_completion_tokens=5), ["max_completion_tokens"], "max_tokens"),
        (line("d8", top_logprobs=3), ["top_logprobs"], "top_logprobs"),
        (line("d9", logprobs=3), ["logprobs"], "logprobs"),
        (line("e1", stop=["a", 7]), ["stop"], "stop"),
        (line("e2", stop=[""]), ["stop"], "stop"),
        (line("e3", logit_bias={"x": 1}), ["logit_bias", "x"], "logit_bias"),
        (line("e4", logit_bias={"99999": 1}), ["logit_bias", "99999"], "logit_bias"),
        (line("e5", response_format={"type": "json_schema"}), ["json_schema"], "response_format.type"),
        (line("e6", seed=1.5), ["seed"], "seed"),
        (line("f1", tools=[tool]), ["tools", "template"], None),
        (line("f2", tools=[{"type": "retrieval"}]), ["tools"], "tools"),
        (line("f3", tool_choice="required"), ["tool_choice", "required"], "tool_choice"),
        (line("f4", functions=[]), ["functions"], "functions"),
        (line("f5", audio={"voice": "x"}), ["audio"], "audio"),
        (line("f6", colour="red"), ["colour"], "colour"),
        (line("f7", presence_penalty=3), ["presence_penalty", "3"], "presence_penalty"),
        (line("f8", chat_template_kwargs={"messages": 1}), ["messages"], None),
    ]  # fmt: skip
    place = Folder(folder, "bad")
    with open(place.input, "wb") as file:
        for item in [good, *(case[0] for case in cases), line("last")]:
            text = item if isinstance(item, str) else json.dumps(item)
            file.write(text.encode("utf-8", "surrogateescape") + b"\r\n\n")
    done = mummu(*place.words())
    expect("bad lines do not stop the batch", done.returncode == 0, done.stderr)
    answers = place.answers()
    expect("a line for every line", len(answers) == len(cases) + 2, len(answers))
    for answer in (answers[0], answers[-1]):
        expect("good lines are answered", answer["response"]["status_code"] == 200, answer)
    for (item, says, param), answer in zip(cases, answers[1:-1]):
        error = answer["response"]["body"]["error"]
        expect(f"status of {item}", answer["response"]["status_code"] == 400, answer)
        expect(f"custom_id of {item}", isinstance(item, str) or isinstance(item["custom_id"], int)
               or answer["custom_id"] == item["custom_id"], answer)
        expect(f"error of {item}", answer["error"]["message"] == error["message"], answer)
        expect(f"param of {item}", param is None or error["param"] == param, answer)
        for text in says:
            expect(f"error of {item}", text in error["message"], answer)
    expect("they are counted", f"2 lines answered, {len(cases)} refused".encode() in done.stderr, done.stderr)


def lasting(answers):
    """What must be equal in two runs: everything but the time and what the cache happened to hold."""
    for answer in answers:
        if answer["response"]["status_code"] == 200:
            answer["response"]["body"].pop("created")
            answer["response"]["body"]["usage"].pop("prompt_tokens_details")
    return answers


def resumes(folder):
    lines = [line(f"r{i}", f"Tell me about the number {i}.", temperature=1, seed=i) for i in range(40)]
    lines[7] = "{broken"
    whole = Folder(folder, "whole")
    wanted = lasting(whole.run(lines))
    with open(whole.output, "rb") as file:
        written = file.read().splitlines(keepends=True)

    torn = Folder(folder, "torn")
    torn.put(lines)
    with open(torn.part, "wb") as file:
        file.write(b"".join(written[:11]) + written[11][:50])
    done = mummu(*torn.words())
    expect("a torn part", done.returncode == 0 and b"11 kept" in done.stderr, done.stderr)
    expect("a torn part", lasting(torn.answers()) == wanted, "the answers differ")
    with open(torn.output, "rb") as file:
        expect("finished lines are kept", file.read().splitlines(keepends=True)[:11] == written[:11], "they were rewritten")
    expect("a torn part", not os.path.exists(torn.part), "it was left behind")

    killed = Folder(folder, "killed")
    killed.put(lines)
    kills = 0
    for _ in range(3):
        process = subprocess.Popen([BINARY, *killed.words("--parallel", "4")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        size = os.path.getsize(killed.part) if os.path.exists(killed.part) else 0
        while process.poll() is None and (not os.path.exists(killed.part) or os.path.getsize(killed.part) < size + 3000):
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += process.returncode == -signal.SIGKILL and os.path.getsize(killed.part) > 0
    done = mummu(*killed.words())
    expect("killed in the middle", kills >= 1 and b"kept from an earlier run" in done.stderr, (kills, done.stderr))
    expect("killed in the middle", done.returncode == 0 and lasting(killed.answers()) == wanted, "the answers differ")

    stopped = Folder(folder, "stopped")
    stopped.put(lines)
    process = subprocess.Popen([BINARY, *stopped.words("--parallel", "2")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while process.poll() is None and (not os.path.exists(stopped.part) or os.path.getsize(stopped.part) == 0):
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    expect("Ctrl-C", process.returncode == 1 and b"stopped" in errors, errors)
    expect("Ctrl-C", not os.path.exists(stopped.output), "an incomplete output has its final name")
    done = mummu(*stopped.words())
    expect("after Ctrl-C", done.returncode == 0 and lasting(stopped.answers()) == wanted, done.stderr)

    other = Folder(folder, "other")
    other.put(lines[1:])
    with open(other.part, "wb") as file:
        file.write(b"".join(written[:3]))
    refused("the part of another input", *other.words(), says=[other.part, "r0"])
    other.put(lines[:2])
    refused("a longer part than the input", *other.words(), says=[other.part])


def tools(folder):
    """What bodies say about tools reaches the model as its template writes it: seen in the number of prompt tokens."""
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    template = os.path.join(cli_test.FIXTURES, "templates/Qwen-Qwen3-0.6B.jinja")
    model = os.path.join(folder, "tiny")
    shutil.copytree(os.path.join(source, "golden/qwen2/tied"), model)
    shutil.copy(template, os.path.join(model, "chat_template.jinja"))

    def prompt_tokens(messages, *words, **files):
        for name, value in {"messages": messages, **files}.items():
            path = os.path.join(folder, name + ".json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(value, file)
            words += ("--" + name, path)
        rendered = mummu("template", model, *words)
        expect("template", rendered.returncode == 0, rendered.stderr)
        return len(json.loads(mummu("tokenize", model, "--json", "--special", stdin=rendered.stdout).stdout))

    offered = [{"type": "function", "function": {"name": "sum", "parameters": {"type": "object"}}}]
    user = {"role": "user", "content": "hi"}
    arguments = {"a": [1, 2]}
    call = {"id": "c1", "type": "function", "function": {"name": "sum", "arguments": arguments}}
    said = {**call, "function": {"name": "sum", "arguments": json.dumps(arguments)}}
    told = {"role": "tool", "tool_call_id": "c1", "content": "3"}
    assistant = {"role": "assistant", "content": None}
    cases = [
        ({"messages": [user], "tools": offered}, prompt_tokens([user], tools=offered)),
        ({"messages": [user], "tools": offered, "tool_choice": "auto"}, prompt_tokens([user], tools=offered)),
        ({"messages": [user], "tools": offered, "tool_choice": "none"}, prompt_tokens([user])),
        ({"messages": [user, {**assistant, "tool_calls": [said]}, told], "tools": offered},
         prompt_tokens([user, {**assistant, "content": "", "tool_calls": [call]}, told], tools=offered)),
        ({"messages": [user], "chat_template_kwargs": {"enable_thinking": False}},
         prompt_tokens([user], "--kwargs", '{"enable_thinking": false}')),
    ]  # fmt: skip
    expect("the cases differ", len({tokens for _, tokens in cases}) == 4, cases)
    place = Folder(folder, "tools")
    lines = [line(str(i), **fields) for i, (fields, _) in enumerate(cases)]
    wild = [line(f"json {i}", max_tokens=300, temperature=1.5, seed=i, response_format={"type": "json_object"}) for i in range(30)]
    bad = [line("bad", messages=[user, {**assistant, "tool_calls": [{**said, "function": {"name": "f", "arguments": "[1]"}}]}])]
    place.put(lines + wild + bad)
    done = mummu("batch", model, "--input", place.input, "--output", place.output)
    expect("tools", done.returncode == 0, done.stderr)
    answers = place.answers()
    for (fields, tokens), answer in zip(cases, answers):
        body = answer["response"]["body"]
        expect(f"prompt of {fields}", body.get("usage", {}).get("prompt_tokens") == tokens, (tokens, body))
    ended = 0
    for answer in answers[len(cases) : -1]:
        choice = answer["response"]["body"]["choices"][0]
        if choice["finish_reason"] == "stop":
            ended += isinstance(json.loads(choice["message"]["content"]), dict)
    expect("objects of a model that says anything", ended >= 10, ended)
    expect("arguments", "arguments" in answers[-1]["error"]["message"], answers[-1])


def mistakes(folder):
    place = Folder(folder, "mistakes")
    refused("no input", *place.words(), says=[place.input])
    place.put([line("a")])
    refused("a folder as input", "batch", MODEL, "--input", folder, "--output", place.output, says=[folder, "folder"])
    refused("no such output folder", "batch", MODEL, "--input", place.input, "--output", "/nowhere/out", says=["/nowhere/out"])
    refused("a folder as output", "batch", MODEL, "--input", place.input, "--output", folder, says=[folder])
    refused("the input as output", "batch", MODEL, "--input", place.input, "--output", place.input, says=["input"])
    refused("no such model", "batch", "no-such-model", "--input", place.input, "--output", place.output, says=["no-such-model"])
    refused("usage", "batch", MODEL, code=2)
    refused("a wrong default", *place.words("--temperature", "-1"), says=["temperature", "-1"])
    refused("a wrong context", *place.words("--ctx", "9000"), says=["8192", "9000"])
    expect("nothing is left behind", not os.path.exists(place.part) or os.path.getsize(place.part) == 0, "a part has lines")
    place.put([line(str(i), max_tokens=2) for i in range(30)])
    full = subprocess.run([BINARY, *place.words()], capture_output=True, timeout=300, restore_signals=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)))
    expect("a full disk", full.returncode == 1 and full.stderr.count(b"\n") == 1 and b"cannot write" in full.stderr, full.stderr)
    done = mummu(*place.words())
    expect("after a full disk", done.returncode == 0 and b"kept" in done.stderr and len(place.answers()) == 30, done.stderr)
    empty = Folder(folder, "empty")
    expect("an empty input", empty.run([]) == [], "it has answers")


def progress(folder):
    place = Folder(folder, "progress")
    place.put([line(str(i), max_tokens=40) for i in range(16)])
    screen, terminal = pty.openpty()
    process = subprocess.Popen([BINARY, *place.words()], stdout=terminal, stderr=terminal)
    os.close(terminal)
    shown = b""
    while True:
        try:
            piece = os.read(screen, 4096)
        except OSError:
            break
        shown += piece
        if not piece:
            break
    os.close(screen)
    expect("progress on a terminal", process.wait() == 0 and b"lines/s" in shown and b"%" in shown, shown)


if __name__ == "__main__":
    cli_test.run(answers_like_run, shapes, bad_lines, resumes, tools, mistakes, progress)
