"""Chat templates as the Python reference renders them: jinja2 set up as transformers sets it up.

    compile_template(source) -> an object with render(**variables)
    render(template, conversation, tools) -> text, or None where the reference refuses

With MUMMU_TRANSFORMERS=1 the set-up is transformers' own, which shows that the one here is the same.
"""
import datetime
import json
import os

import jinja2
import jinja2.ext
import jinja2.sandbox

NOW = 1785421930  # 2026-07-30T14:32:10Z, what strftime_now sees
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


class Generation(jinja2.ext.Extension):
    """{% generation %} ... {% endgeneration %}: a block that renders to its own text."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_text"), [], [], body).set_lineno(line)

    def _text(self, caller):
        return caller()


def _raise(message):
    raise jinja2.exceptions.TemplateError(message)


def _tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _now():
    return datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc).replace(tzinfo=None)


class Space(jinja2.utils.Namespace):
    """A namespace without names that begin with an underscore."""

    def __init__(*args, **values):
        attributes = dict(*args[1:], **values)
        for name in attributes:
            Space.check(name)
        jinja2.utils.Namespace.__init__(args[0], attributes)

    def __setitem__(self, name, value):
        Space.check(name)
        super().__setitem__(name, value)

    @staticmethod
    def check(name):
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError(f"a namespace cannot have {name!r}")


def _own_template(source):
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = lambda form: _now().strftime(form)
    environment.globals["namespace"] = Space
    return environment.from_string(source)


def _transformers_template(source):
    from transformers.utils import chat_template_utils

    class Clock(datetime.datetime):
        @classmethod
        def now(cls, zone=None):
            return _now()

    chat_template_utils.datetime = Clock
    return chat_template_utils._compile_jinja_template(source)


compile_template = _transformers_template if os.environ.get("MUMMU_TRANSFORMERS") else _own_template


def render(template, conversation, tools):
    variables = dict(TOKENS)
    variables.update(conversation.get("kwargs", {}))
    try:
        text = template.render(
            messages=conversation["messages"],
            tools=tools,
            documents=conversation.get("documents"),
            add_generation_prompt=conversation.get("add_generation_prompt", True),
            **variables,
        )
        text.encode("utf-8")
        return text
    except Exception as error:  # whatever Python raises is a refusal
        render.error = error
        return None


def load_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)
