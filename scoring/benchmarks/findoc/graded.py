"""The values of a document with their verdicts and places."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any, cast

from scoring.benchmarks.graded import (
    NOT_FOUND,
    FieldGrades,
    FieldName,
    GradedField,
    GradedItem,
    WrongFields,
    record_sheet,
    text_sheet,
)
from scoring.benchmarks.records import field_rows
from scoring.metrics.document_accuracy import (
    NUMBER,
    Matching,
    extract_all_numbers,
    match_document,
    normalize_number,
    normalize_text,
)

from .scorer import FINAL, phrases_of

_PARTS = {
    "numbers": "number",
    "line_items": "line item",
    "sections": "section",
    "disclosures": "disclosure",
}


def wrong(result: Mapping[str, Any]) -> WrongFields | None:
    if result[FINAL] is None:
        return None
    parts = [(part, result["parts"][part]) for part in _PARTS]
    return WrongFields(
        Counter(
            FieldName(_PARTS[part], _PARTS[part], value)
            for part, counted in parts
            for value in counted["missed"]
        ),
        is_cut=any(
            counted["total"] - counted["found"] > len(counted["missed"]) for _, counted in parts
        ),
    )


def item(
    gold: Mapping[str, Any],
    prediction: Mapping[str, Any] | None,
    result: Mapping[str, Any],  # noqa: ARG001 - it lists only what was missed
    options: Mapping[str, str],
) -> GradedItem:
    text = "" if prediction is None else str(prediction["text"])
    match = match_document(
        gold["gold"],
        text,
        matching=cast("Matching", options["matching"]),
        sections=phrases_of(dict(options), "sections"),
        disclosures=phrases_of(dict(options), "disclosures"),
    )
    fields = []
    for part, name in _PARTS.items():
        counted = getattr(match, part)
        missed = frozenset(counted.missed)
        fields += [
            GradedField(name, name, value, None, NOT_FOUND)
            if value in missed
            else GradedField(name, name, value, value, "")
            for value in counted.wanted
        ]
    record = gold["gold"] if isinstance(gold["gold"], dict) else {"gold": gold["gold"]}
    return GradedItem(
        tuple(fields),
        record_sheet(record, list(_paths(record, fields))),
        None if prediction is None else text_sheet(text, _places(text, fields)),
    )


def _paths(record: Mapping[str, Any], fields: list[GradedField]) -> Iterator[tuple[str, str]]:
    """Return the path of each value in the gold. The phrases of sections and disclosures are fixed
    and may be in no path."""
    found: dict[str, tuple[str, str]] = {}
    for row in field_rows(record):
        path = re.sub(r"\[\d+\]", "", row.path)
        found.setdefault(normalize_text(row.text), (path, row.text))
        for number in extract_all_numbers(row.text):
            found.setdefault(normalize_number(number).rstrip("."), (path, number))
    for field in fields:
        yield found.get(field.value, ("", ""))


def _places(text: str, fields: list[GradedField]) -> Iterator[tuple[int, int, int]]:
    """Return the first place of each value that was found."""
    numbers: dict[str, tuple[int, int]] = {}
    for each in NUMBER.finditer(text):
        digits = each.group().rstrip(".,")
        numbers.setdefault(normalize_number(digits), (each.start(), each.start() + len(digits)))
    phrases = _Phrases(text)
    for at, field in enumerate(fields):
        if field.error:
            continue
        find = numbers.get if field.kind == _PARTS["numbers"] else phrases.find
        if place := find(field.value):
            yield *place, at


class _Phrases:
    """Finds normalised phrases in a text."""

    def __init__(self, text: str) -> None:
        words = list(re.finditer(r"\S+", text))
        self.lower = [word.group().lower() for word in words]
        self.text = " ".join(self.lower)
        self.original = [word.start() for word in words]
        self.starts = [0, *accumulate(len(word) + 1 for word in self.lower)][:-1]

    def find(self, phrase: str) -> tuple[int, int] | None:
        start = self.text.find(phrase) if phrase else -1
        return None if start < 0 else (self._place(start), self._place(start + len(phrase) - 1) + 1)

    def _place(self, at: int) -> int:
        word = bisect_right(self.starts, at) - 1
        return self.original[word] + at - self.starts[word]


FIELD_GRADES = FieldGrades(wrong, item)
