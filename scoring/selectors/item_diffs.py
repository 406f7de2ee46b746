"""Gold and prediction of one item compared: as text word by word, or as JSON field by field."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from rapidfuzz.distance import Indel

from scoring.benchmarks.items import Sides

from .payloads import MOST_CHARACTERS, MOST_ROWS, FieldRow, field_rows

# Beyond these a page would be too long to be compared, or to be read.
MOST_WORDS = 10_000
# Of a longer stretch that is the same on both sides only the ends are shown.
_SHOWN_AROUND = 12

# A field without a value, as text and as JSON.
_EMPTY = frozenset({"", "null", "[]", "{}"})

Verdict = Literal["same", "differs", "missed", "extra"]


@dataclass(frozen=True)
class Stretch:
    """Neighbouring words that both sides have, that the gold alone has (`missed`), or that the
    prediction alone has (`extra`). `skipped` words in the middle of what is the same are not
    shown, after `text` and before `rest`."""

    kind: Literal["same", "missed", "extra"]
    text: str
    skipped: int = 0
    rest: str = ""


@dataclass(frozen=True)
class FieldPair:
    """A field of either side; None where a side does not have it."""

    path: str
    gold: str | None
    prediction: str | None

    @property
    def verdict(self) -> Verdict:
        if self.gold is None:
            return "extra"
        if self.prediction is None:
            return "missed"
        return "same" if self.gold == self.prediction else "differs"


@dataclass(frozen=True)
class ItemDiff:
    """One of the two, or neither where there is nothing to compare; `problem` says why."""

    stretches: list[Stretch] | None = None
    fields: list[FieldPair] | None = None
    problem: str = ""
    has_more: bool = False

    @property
    def is_same(self) -> bool:
        kinds: set[str] = {each.kind for each in self.stretches or []}
        return kinds | {each.verdict for each in self.fields or []} <= {"same"}


def item_diff(sides: Sides) -> ItemDiff:
    """Nothing is told of the gold that the sides do not hold."""
    if sides.prediction is None:
        return ItemDiff(problem="There is no prediction that can be read.")
    if isinstance(sides.gold, str) and isinstance(sides.prediction, str):
        gold, prediction = sides.gold.split(), sides.prediction.split()
        if max(len(gold), len(prediction)) > MOST_WORDS:
            return ItemDiff(problem=f"More than {MOST_WORDS:,} words are not compared.")
        return ItemDiff(stretches=text_diff(gold, prediction))
    if isinstance(sides.gold, dict) and isinstance(sides.prediction, dict):
        pairs = field_diff(sides.gold, sides.prediction)
        return ItemDiff(fields=pairs[:MOST_ROWS], has_more=len(pairs) > MOST_ROWS)
    return ItemDiff(problem="Gold and prediction are of different kinds.")


def text_diff(gold: Sequence[str], prediction: Sequence[str]) -> list[Stretch]:
    """The words of both in order.

    >>> [each.kind for each in text_diff(["a", "b"], ["a", "c"])]
    ['same', 'extra', 'missed']
    """
    stretches = []
    for code in Indel.opcodes(gold, prediction):
        if code.tag == "insert":
            words = prediction[code.dest_start : code.dest_end]
            stretches.append(Stretch("extra", " ".join(words)))
        elif code.tag == "delete":
            words = gold[code.src_start : code.src_end]
            stretches.append(Stretch("missed", " ".join(words)))
        else:
            stretches.append(_same(gold[code.src_start : code.src_end]))
    return stretches


def _same(words: Sequence[str]) -> Stretch:
    if len(words) <= 3 * _SHOWN_AROUND:
        return Stretch("same", " ".join(words))
    first, last = words[:_SHOWN_AROUND], words[-_SHOWN_AROUND:]
    return Stretch("same", " ".join(first), len(words) - 2 * _SHOWN_AROUND, " ".join(last))


def field_diff(gold: Mapping[str, Any], prediction: Mapping[str, Any]) -> list[FieldPair]:
    """By path, the numbers of lists as numbers; the same on every database. What is empty counts as
    not there.

    >>> [(each.path, each.verdict) for each in field_diff({"b": 1, "a": 2}, {"b": 1, "c": 0})]
    [('a', 'missed'), ('b', 'same'), ('c', 'extra')]
    """
    ours, theirs = _by_path(gold), _by_path(prediction)
    return [
        FieldPair(path, _shown(ours.get(path)), _shown(theirs.get(path)))
        for path in sorted(ours.keys() | theirs.keys(), key=_natural)
    ]


def _by_path(value: Mapping[str, Any]) -> dict[str, FieldRow]:
    # One more than is shown of each tells that there are more.
    filled = (row for row in field_rows(value) if row.text not in _EMPTY)
    return {row.path: row for row in islice(filled, MOST_ROWS + 1)}


def _shown(row: FieldRow | None) -> str | None:
    if row is None:
        return None
    return f"{row.text[:MOST_CHARACTERS]}… (cut off)" if row.is_cut else row.text


def _natural(path: str) -> list[tuple[str, int]]:
    """`detail[10]` after `detail[9]`."""
    parts = re.split(r"\[(\d+)\]", path)
    return [
        (text, int(number)) for text, number in zip(parts[::2], [*parts[1::2], "-1"], strict=True)
    ]
