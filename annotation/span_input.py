"""Reads spans that come from outside, and says of each what is wrong with it. No Django.

A fault is `{"index": place in the list, "key": the span's key if it has one, "code": …, "message":
…}`; the codes of this module are `type`, `key`, `label`, `value`, `duplicate_key`, `quote` and
`too_many`, those of `portal.facts.check_spans` come on top.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from portal.facts import Span as TextSpan
from portal.facts import check_spans

from .span_values import meaning_of, meaning_problem

MAX_SPANS = 20_000
MAX_LABEL = 64
KEY = re.compile(r"[A-Za-z0-9_-]{1,36}")

Fault = dict[str, Any]


class Draft(NamedTuple):
    """A span as somebody wants it saved: `[start, end)` in code points, the text they saw there,
    and what it means; `edited` when that is their own word and not derived from the quote.
    """

    key: str
    label: str
    start: int
    end: int
    quote: str
    value: str
    sign: str
    edited: bool


PLACED = ("key", "label", "start", "end", "quote")


class _UnfitError(ValueError):
    """What is wrong with the form of one span."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def read_spans(raw: object) -> tuple[list[Draft], list[Fault]]:
    """The spans of a decoded JSON value, and the faults of those whose form is wrong.

    When there are no faults the list is whole and in the order given.
    """
    if not isinstance(raw, list):
        return [], [_fault(0, "", "type", "spans must be a list")]
    if len(raw) > MAX_SPANS:
        message = f"{len(raw)} spans are more than the {MAX_SPANS} one page may have"
        return [], [_fault(MAX_SPANS, "", "too_many", message)]
    drafts, faults = [], []
    for index, item in enumerate(raw):
        try:
            drafts.append(_draft(item))
        except _UnfitError as error:
            faults.append(_fault(index, _key_of(item), error.code, str(error)))
    return drafts, faults


def recorded_span(span: Mapping[str, Any]) -> Draft:
    """A span as a revision recorded it. Those of the first version have no value: it is derived."""
    meaning = (span["value"], span["sign"], span["edited"]) if "value" in span else meaning_of(span)
    return Draft(*(span[name] for name in PLACED), *meaning)


def check_drafts(text: str, drafts: Sequence[Draft], labels: Sequence[str]) -> list[Fault]:
    """What forbids saving these spans over this text; empty when nothing does."""
    faults = []
    seen: set[str] = set()
    for index, draft in enumerate(drafts):
        if draft.key in seen:
            faults.append(_fault(index, draft.key, "duplicate_key", "two spans have this key"))
        seen.add(draft.key)
        in_range = 0 <= draft.start < draft.end <= len(text)
        if in_range and text[draft.start : draft.end] != draft.quote:
            message = f"the text at [{draft.start}, {draft.end}) is not the quote that was sent"
            faults.append(_fault(index, draft.key, "quote", message))
    spans = [TextSpan(draft.start, draft.end, draft.label) for draft in drafts]
    faults += [
        _fault(fault.index, drafts[fault.index].key, fault.code, fault.message)
        for fault in check_spans(text, spans, labels)
    ]
    return sorted(faults, key=lambda fault: int(fault["index"]))


def _draft(item: object) -> Draft:
    """The span; raises _UnfitError with what is wrong with its form."""
    if not isinstance(item, dict):
        raise _UnfitError("type", "a span must be an object with key, label, start, end and quote")
    _check_types(item)
    if len(item["label"]) > MAX_LABEL:
        raise _UnfitError("label", f"label is longer than {MAX_LABEL} characters")
    if not KEY.fullmatch(item["key"]):
        raise _UnfitError("key", "key must be 1 to 36 letters, digits, hyphens or underscores")
    meaning = meaning_of(item)
    if problem := meaning_problem(meaning, item["label"]):
        raise _UnfitError("value", problem)
    return Draft._make([*(item[name] for name in PLACED), *meaning])


def _check_types(item: Mapping[str, Any]) -> None:
    for name in ("key", "label", "quote"):
        if not isinstance(item.get(name), str):
            raise _UnfitError("type", f"{name} must be a text")
    for name in ("start", "end"):
        # bool is an int in Python; in JSON it is not a number.
        if type(item.get(name)) is not int:
            raise _UnfitError("type", f"{name} must be a whole number")
    for name in ("value", "sign"):
        if not isinstance(item.get(name), str | None):
            raise _UnfitError("type", f"{name} must be a text, or null to have it derived")


def _key_of(item: object) -> str:
    """The span's key if it is fit to be repeated in an answer."""
    key = item.get("key") if isinstance(item, dict) else None
    return key if isinstance(key, str) and KEY.fullmatch(key) else ""


def _fault(index: int, key: str, code: str, message: str) -> Fault:
    fault: Fault = {"index": index, "code": code, "message": message}
    return fault | {"key": key} if key else fault
