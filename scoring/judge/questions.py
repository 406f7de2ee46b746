"""Questions to the judge: a prompt, the texts to compare, and the form of the answer.

The texts are enclosed in lines with a random boundary, which is new for every call. A text cannot
know it, and so cannot fake the end of its section. The judge is not asked for totals.

Prompts are versioned files in prompts/. A used prompt is never changed, because signatures and keys
of cached answers contain its version. New wording needs a new file with the next number.

A prompt that exists only as a paper's own words is not shipped. The operator can put these words in
a folder; they are used with a frame of ours, which names sections and answer, and their version
contains a hash of both.
"""

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

from scoring.judge import PUBLISHED, published_words


def _no_text(value: object) -> object:
    return "" if value is None else value


class Answer(BaseModel):
    """An answer. Strict endpoints need closed objects with all keys required. Additional keys of
    other endpoints are ignored."""

    model_config = ConfigDict(extra="ignore", json_schema_extra={"additionalProperties": False})


class FactRow(Answer):
    """The judge's decision on gold fact `n`. `matched_text` is copied from the prediction, or
    empty."""

    n: int
    found: bool
    correct: bool
    matched_text: Annotated[str, BeforeValidator(_no_text)]
    why: str


class FactsAnswer(Answer):
    structure_score: Literal[0, 1, 2]
    structure_explanation: str
    facts: list[FactRow]
    overall_explanation: str


class FieldAnswer(Answer):
    same: bool
    why: str


@cache
def response_format(schema: type[Answer]) -> dict[str, Any]:
    """The schema for chat completions, cached because building it is slow."""
    return {
        "type": "json_schema",
        "json_schema": {
            "name": schema.__name__,
            "strict": True,
            "schema": schema.model_json_schema(),
        },
    }


A = TypeVar("A", bound=Answer)
Message = dict[str, str]
# UTF-8 bytes per token, a safe estimate: prose has four, tables of digits two.
_BYTES_A_TOKEN = 2
# Additional tokens of the schema and the message format.
_FORM_TOKENS = 400
_PROMPTS = Path(__file__).with_name("prompts")


@dataclass(frozen=True)
class Prompt:
    """The instructions for a judge; `version` is the name of the file, such as facts-1. `words` are
    those of a paper, and come first."""

    version: str
    template: Template
    words: str = ""

    def text(self, boundary: str) -> str:
        framed = self.template.substitute(boundary=boundary)
        return f"{self.words.rstrip()}\n\n{framed}" if self.words else framed


def load_prompt(version: str) -> Prompt:
    """The prompt of a version; raises FileNotFoundError."""
    return Prompt(version, Template((_PROMPTS / f"{version}.md").read_text(encoding="utf-8")))


class MissingPrompt(LookupError):
    """The words of this version are not in the operator's folder."""


@dataclass(frozen=True)
class PromptSet:
    """The prompts for one kind of question, default first."""

    kind: str
    shipped: tuple[str, ...]

    def version_of(self, wanted: str) -> str:
        """The full version, or empty if there is none: `` is the default, `facts-published` the
        operator's words as they are now. Any hash is accepted, since options may be of another
        site."""
        if wanted in {"", *self.shipped}:
            return wanted or self.shipped[0]
        if wanted == f"{self.kind}-{PUBLISHED}":
            published = self._published()
            return published.version if published else ""
        known = re.fullmatch(rf"{self.kind}-{PUBLISHED}-[0-9a-f]{{12}}", wanted)
        return wanted if known else ""

    def get(self, version: str) -> Prompt:
        """The prompt of a full version; raises MissingPrompt."""
        if version in self.shipped:
            return load_prompt(version)
        published = self._published()
        if published is None or published.version != version:
            raise MissingPrompt(f"the judge's prompt {version} is not installed here")
        return published

    def lacking(self, version: str) -> str:
        """Why the prompt of this version cannot be used here; empty if it can."""
        try:
            self.get(version)
        except MissingPrompt as missing:
            return str(missing)
        return ""

    def _published(self) -> Prompt | None:
        words = published_words("judge").get(self.kind)
        if words is None:
            return None
        frame = load_prompt(f"frame-{self.kind}").template
        digest = hashlib.sha256(f"{words}\0{frame.template}".encode()).hexdigest()
        return Prompt(f"{self.kind}-{PUBLISHED}-{digest[:12]}", frame, words)


FACT_PROMPTS = PromptSet("facts", ("facts-1", "facts-paper-1"))
FIELD_PROMPTS = PromptSet("fields", ("fields-1", "fields-paper-1"))
FACTS = load_prompt("facts-1")
FIELDS = load_prompt("fields-1")


def _complete(_: Answer) -> str:
    return ""


@dataclass(frozen=True)
class Question(Generic[A]):
    """`sections` are the texts by name, `most_output` limits the tokens of the answer, and
    `problem` returns why an answer of the right form cannot be used, or nothing."""

    prompt: Prompt
    schema: type[A]
    sections: Mapping[str, str]
    most_output: int
    problem: Callable[[A], str] = _complete

    def key(self, model: str) -> str:
        """The cache key: a hash of prompt version, model and all sections."""
        parts = [self.prompt.version, model, *self.sections.items()]
        return hashlib.sha256(json.dumps(parts).encode("utf-8")).hexdigest()

    def messages(self) -> list[Message]:
        boundary = secrets.token_hex(12)
        user = "\n\n".join(
            f"BEGIN {name} {boundary}\n{text}\nEND {name} {boundary}"
            for name, text in self.sections.items()
        )
        return [
            {"role": "system", "content": self.prompt.text(boundary)},
            {"role": "user", "content": user},
        ]


def estimated_tokens(messages: list[Message]) -> int:
    """The estimated number of tokens, rather too high than too low for usual pages."""
    size = sum(len(message["content"].encode("utf-8")) for message in messages)
    return size // _BYTES_A_TOKEN + _FORM_TOKENS
