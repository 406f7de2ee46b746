"""Reads the response of an OpenAI-compatible endpoint: its first choice, or its error."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scoring.judge.endpoint import Usage, reported_usage

from .manifest import ONLY_REASONING

# Encodings of JSON that a header may name. Others, such as compressing codecs, are never used.
_CHARSETS = frozenset(
    "latin-1 iso-8859-1 iso-8859-15 windows-1252 cp1252 gbk gb2312 gb18030 big5 shift_jis euc-jp "
    "euc-kr".split()
)
# Why a choice ended, apart from its end and tool calls.
_CUT_OFF = frozenset({"length", "max_tokens", "model_length"})
_FILTERED = frozenset(
    "content_filter safety recitation sensitive refusal prohibited_content blocklist spii".split()
)
REFUSED = "refused by the model"
FILTERED = "refused by the provider's content filter"


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """`refusal` says who refused, and `note` what is unusual about a text; both are empty as a
    rule."""

    text: str
    refusal: str
    note: str
    is_cut_off: bool
    usage: Usage | None
    seconds: float


@dataclass(frozen=True)
class Error:
    """The error in a response. `status` is its own or, in a response with status 200, the one that
    its code names; 200 without one."""

    status: int
    code: str
    part: str
    message: str


def error_of(response: Response) -> Error:
    """The error of OpenAI-compatible endpoints; empty for a body that has none."""
    value = _json(response)
    error = _inside(value, "error") or _inside(_first_choice(value), "error") or value
    found = error if isinstance(error, dict) else {"message": error}
    status, code = response.status, found.get("code")
    if status == 200 and str(code).isdecimal() and 400 <= int(str(code)) < 600:
        status = int(str(code))
    codes = [code, _inside(found, "innererror", "code"), found.get("type")]
    if _inside(found, "metadata", "flagged_input") or _inside(found, "metadata", "reasons"):
        codes.insert(0, "content_filter")
    return Error(
        status,
        code=next(filter(None, map(_text_of, codes)), ""),
        part=_text_of(found.get("param")),
        message=" ".join(_text_of(found.get("message")).split()),
    )


def has_error(response: Response) -> bool:
    """Whether it has an error instead of an answer, as gateways send it with status 200."""
    value = _json(response)
    choice = _first_choice(value)
    if choice is None:
        return bool(_inside(value, "error")) or _inside(value, "object") == "error"
    return bool(_inside(choice, "error"))


def _json(response: Response) -> object:
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError):
        return None


def _first_choice(value: object) -> object:
    choices = _inside(value, "choices")
    return choices[0] if isinstance(choices, list) and choices else None


def _inside(value: object, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def read_reply(response: Response) -> Reply:
    """The first choice. Raises one of several errors for anything else, also for an error.

    Reasoning in a field of its own is no part of the answer, also if there is no answer.
    """
    value = json.loads(_decoded(response))
    choice = value["choices"][0]
    if choice.get("error"):
        raise ValueError("error")
    message = choice["message"]
    content, refusal = message.get("content"), message.get("refusal")
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part.get("type") == "text")
    if content is not None and not isinstance(content, str):
        raise TypeError("content")
    ending = _text_of(choice.get("finish_reason")).lower()
    is_filtered = ending.partition(":")[0] in _FILTERED
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    return Reply(
        content or _text_of(refusal),
        refusal=FILTERED if is_filtered else REFUSED if refusal else "",
        note=ONLY_REASONING if reasoning and not (content or "").strip() else "",
        is_cut_off=ending in _CUT_OFF,
        usage=reported_usage(value.get("usage"), content or ""),
        seconds=0.0,
    )


def _decoded(response: Response) -> str | bytes:
    """JSON is in UTF-8, UTF-16 or UTF-32, which its parser finds out, unless the header names
    another encoding."""
    _, _, named = response.headers.get("content-type", "").lower().partition("charset=")
    charset = named.partition(";")[0].strip(" \"'")
    return response.body.decode(charset) if charset in _CHARSETS else response.body
