"""A question to the judge: a prompt, what is compared, and the form of the answer.

What is compared stands between lines that hold a random boundary, which is drawn anew for every
call: no text can know it, and so none can pretend that its section has ended. The judge's own
totals are not asked for: they are counted here.

The prompts are versioned files in prompts/. A prompt that was used is never changed: another
wording is another file with the next number, since the version stands in signatures and in the keys
of kept verdicts.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict


def _no_text(value: object) -> object:
    return "" if value is None else value


class Answer(BaseModel):
    """An answer. Endpoints that hold to a schema want every object closed and every key required;
    what others add is left aside."""

    model_config = ConfigDict(extra="ignore", json_schema_extra={"additionalProperties": False})


class FactRow(Answer):
    """What the judge says of gold fact `n`; `matched_text` is copied from the prediction, or
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
    """The schema as chat completions take it; making it takes longer than sending it."""
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
# UTF-8 bytes that make up one token, on the careful side: prose has four, tables of digits two.
_BYTES_A_TOKEN = 2
# What a schema and the frame of messages add.
_FORM_TOKENS = 400
_PROMPTS = Path(__file__).with_name("prompts")


@dataclass(frozen=True)
class Prompt:
    """What a judge is told; `version` is the file's name, such as facts-1."""

    version: str
    template: Template

    def text(self, boundary: str) -> str:
        return self.template.substitute(boundary=boundary)


def load_prompt(version: str) -> Prompt:
    """The prompt of a version; raises FileNotFoundError."""
    return Prompt(version, Template((_PROMPTS / f"{version}.md").read_text(encoding="utf-8")))


FACTS = load_prompt("facts-1")
FIELDS = load_prompt("fields-1")


def _complete(_: Answer) -> str:
    return ""


@dataclass(frozen=True)
class Question(Generic[A]):
    """`sections` are the texts by name; `most_output` bounds the answer's tokens; `problem` says
    what keeps an answer of the right form from being used, or nothing."""

    prompt: Prompt
    schema: type[A]
    sections: Mapping[str, str]
    most_output: int
    problem: Callable[[A], str] = _complete

    def key(self, model: str) -> str:
        """Names the verdict for good: hash of prompt version, model and all that is compared."""
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
    """About how many tokens messages have; of what is usual in pages, more rather than fewer."""
    size = sum(len(message["content"].encode("utf-8")) for message in messages)
    return size // _BYTES_A_TOKEN + _FORM_TOKENS
