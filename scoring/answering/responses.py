"""Reads the response of an OpenAI-compatible endpoint: its first choice, or its error."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scoring.judge.endpoint import Usage, reported_usage

# Encodings of JSON that a header may name. Others, such as compressing codecs, are never used.
_CHARSETS = frozenset(
    "latin-1 iso-8859-1 iso-8859-15 windows-1252 cp1252 gbk gb2312 gb18030 big5 shift_jis euc-jp "
    "euc-kr".split()
)


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    text: str
    is_refused: bool
    is_cut_off: bool
    usage: Usage | None
    seconds: float


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def error_of(body: bytes) -> dict[str, Any]:
    """The error object of OpenAI-compatible endpoints; empty if the body is anything else."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    error = value.get("error", value) if isinstance(value, dict) else value
    if isinstance(error, dict):
        return error
    return {"message": error} if isinstance(error, str) else {}


def read_reply(response: Response) -> Reply:
    """The first choice. Raises one of several errors for anything else."""
    value = json.loads(_decoded(response))
    choice = value["choices"][0]
    message = choice["message"]
    content, refusal = message.get("content"), message.get("refusal")
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part.get("type") == "text")
    if content is not None and not isinstance(content, str):
        raise TypeError("content")
    ending = choice.get("finish_reason")
    is_refused = bool(refusal) or ending == "content_filter"
    return Reply(
        content or (refusal if isinstance(refusal, str) else ""),
        is_refused=is_refused,
        is_cut_off=ending == "length",
        usage=reported_usage(value.get("usage"), content or ""),
        seconds=0.0,
    )


def _decoded(response: Response) -> str | bytes:
    """JSON is in UTF-8, UTF-16 or UTF-32, which its parser finds out, unless the header names
    another encoding."""
    _, _, named = response.headers.get("content-type", "").lower().partition("charset=")
    charset = named.partition(";")[0].strip(" \"'")
    return response.body.decode(charset) if charset in _CHARSETS else response.body
