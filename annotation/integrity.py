"""Automatic integrity validation of submitted work, before anybody compares it. No Django.

The faults of structure (`structural_faults`) make an annotator's work unusable: it goes back. Those
of a value (`value_problem`) concern one fact that all agree on, and are settled like a difference.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from portal.facts import FactValue, check_spans, check_value
from portal.facts import Span as TextSpan
from portal.facts.spans import label_kind


class SubmittedSpan(Protocol):
    """A span as an annotator submitted it."""

    @property
    def key(self) -> str: ...
    @property
    def label(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def quote(self) -> str: ...


@dataclass(frozen=True)
class IntegrityFault:
    """What is wrong with the span `key`, or with the whole page when that is empty."""

    key: str
    code: str
    message: str


def structural_faults(
    text: str, text_sha256: str, spans: Iterable[SubmittedSpan], labels: Sequence[str]
) -> list[IntegrityFault]:
    """Overlapping or nested spans, unknown labels, offsets that do not fit the text, a lost key.

    `text_sha256` is the hash the text had when it was imported.
    """
    if hashlib.sha256(text.encode()).hexdigest() != text_sha256:
        message = "the page's text is not the one that was imported: its hash differs"
        return [IntegrityFault("", "text_hash", message)]
    listed = list(spans)
    marks = [TextSpan(span.start, span.end, span.label) for span in listed]
    faults = [
        IntegrityFault(listed[fault.index].key, fault.code, fault.message)
        for fault in check_spans(text, marks, labels)
    ]
    for span in listed:
        if not span.key:
            faults.append(IntegrityFault("", "key", f"the span at {span.start} has no key"))
        if text[span.start : span.end] != span.quote:
            message = f"“{span.quote}” does not stand at [{span.start}, {span.end}) of the text"
            faults.append(IntegrityFault(span.key, "quote", message))
    return faults


def value_problem(values: Iterable[FactValue], label: str) -> str | None:
    """Why the values that annotators gave one fact cannot simply be gold; None when they can.

    A number or date needs a value, in the right form, that all gave alike.
    """
    if label_kind(label) is None:
        return None
    distinct = sorted(set(values))
    if len(distinct) > 1:
        return "the annotators' values differ"
    value = distinct[0]
    if not value.value:
        return f"the {label_kind(label)} has no value"
    return check_value(value.value, value.sign, label)
