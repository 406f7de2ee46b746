"""One item without facts: gold, prediction and result field by field, and their differences.

Any JSON becomes a readable table. The result gets labels from result_words.toml and never shows raw
JSON. Texts are compared word by word, JSON field by field.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from django.utils.text import capfirst
from rapidfuzz.distance import Indel

from scoring.benchmarks.graded import MOST_CHARACTERS, FieldRow, field_rows
from scoring.benchmarks.items import Sides

# The most rows that a page shows. Cuts are marked.
MOST_ROWS = 200


@dataclass(frozen=True)
class FieldTable:
    """The fields of a JSON object in its own order; `has_more` if only the first are listed."""

    title: str
    rows: tuple[FieldRow, ...]
    has_more: bool = False


def field_table(title: str, value: Mapping[str, Any], *, without: frozenset[str]) -> FieldTable:
    """Return one row for each value that is not a list or object, leaving out the keys in
    `without`."""
    shown = {key: part for key, part in value.items() if key not in without}
    rows = tuple(islice(field_rows(shown), MOST_ROWS + 1))
    return FieldTable(title, rows[:MOST_ROWS], has_more=len(rows) > MOST_ROWS)


_WORDS = tomllib.loads(Path(__file__).with_name("result_words.toml").read_text(encoding="utf-8"))
_LABELS: dict[str, str] = _WORDS["labels"]
_ORDER = {key: place for place, key in enumerate(_WORDS["order"]["keys"])}
_VERBATIM = frozenset(_WORDS["verbatim"]["keys"])
_COUNTS = frozenset(_WORDS["counts"]["keys"])
_NAMED = frozenset(_WORDS["named"]["keys"])
_SIDES = frozenset({"gold", "prediction"})
NOTHING, NONE = "–", "none"
# The scorers' results are shallow; deeper values are not shown.
_DEEPEST = 6
LONGEST_VALUE = 2000


@dataclass(frozen=True)
class ResultRow:
    label: str
    text: str
    is_name: bool = False
    """Whether the label is a field's own name."""


@dataclass(frozen=True)
class ResultPart:
    """Related rows. The first part is about the whole item and has no title."""

    title: str
    rows: tuple[ResultRow, ...]


def result_parts(
    result: Mapping[str, Any], *, without: Collection[str], is_compared: bool
) -> list[ResultPart]:
    """Return the scorer's result as rows, without the keys in `without`. If gold and prediction are
    shown side by side (`is_compared`), they are not repeated field by field."""
    shown = {key: value for key, value in _ordered(result) if key not in without}
    groups = {key: value for key, value in shown.items() if isinstance(value, dict) and value}
    whole = tuple(_row(key, value) for key, value in shown.items() if key not in groups)
    parts = [ResultPart("", whole)] if whole else []
    return parts + [
        ResultPart(label(key), tuple(_rows_inside(key, group, is_compared)))
        for key, group in groups.items()
    ]


def _ordered(group: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return sorted(group.items(), key=lambda pair: (_ORDER.get(pair[0], len(_ORDER)), pair[0]))


def _rows_inside(key: str, group: Mapping[str, Any], is_compared: bool) -> Iterable[ResultRow]:
    is_name = key in _VERBATIM
    for name, field in _ordered(group):
        value = field
        if is_compared and isinstance(field, dict):
            value = {inner: field[inner] for inner in field if inner not in _SIDES}
        text = words(value, within=(key, name))
        yield ResultRow(name if is_name else label(name), text, is_name=is_name)


def _row(key: str, value: Any) -> ResultRow:
    return ResultRow(label(key), words(value, within=(key,)))


def label(key: str) -> str:
    """
    >>> label("f1"), label("numeric_accuracy")
    ('F1', 'Numeric accuracy')
    """
    spaced = key.replace("_", " ")
    return _LABELS.get(key, capfirst(spaced))


def words(value: Any, within: tuple[str, ...] = ()) -> str:
    """Format a value in words. `within` are the keys it is nested under.

    >>> words(None), words([]), words(True), words(2 / 3), words(["a", "b"])
    ('–', 'none', 'yes', '0.6667', 'a, b')
    >>> words([1, 0, 2, 0], within=("counts",))
    '1 correct, 2 not found'
    """
    text = _words(value, within)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}… cut off"


def _words(value: Any, within: tuple[str, ...]) -> str:
    match value:
        case None | "":
            return NOTHING
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.4f}".rstrip("0").rstrip(".")
        case str():
            return value.replace("_", " ") if _NAMED.intersection(within[-1:]) else value
        case dict() | list():
            return _several(value, within) if value else NONE
    return str(value)


def _several(value: dict[str, Any] | list[Any], within: tuple[str, ...]) -> str:
    if len(within) > _DEEPEST:
        return "…"
    if isinstance(value, dict):
        return "; ".join(_entry(key, inner, within) for key, inner in _ordered(value))
    if _COUNTS.intersection(within) and _are_counts(value):
        pairs = zip(value, _WORDS["counts"]["words"], strict=True)
        return ", ".join(f"{count} {word}" for count, word in pairs if count) or NONE
    if any(isinstance(part, list | dict) for part in value):
        return "; ".join(_nested(part, within) for part in value)
    return ", ".join(_words(part, within) for part in value)


def _entry(key: str, value: Any, within: tuple[str, ...]) -> str:
    name = key if _VERBATIM.intersection(within[-1:]) or "weights" in within else label(key).lower()
    text = _words(value, (*within, key))
    return text if key in _COUNTS else f"{name}: {text}"


def _nested(value: Any, within: tuple[str, ...]) -> str:
    """Format a field stored as `[path, value]`."""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
        return f"{value[0]}: {_words(value[1], (*within, ''))}"
    return _words(value, (*within, ""))


def _are_counts(value: list[Any]) -> bool:
    return len(value) == len(_WORDS["counts"]["words"]) and all(type(n) is int for n in value)


# Longer texts take too long to compare, and to read.
MOST_WORDS = 10_000
# Only the ends of a longer identical stretch are shown.
_SHOWN_AROUND = 12

# A field without a value, as text and as JSON.
_EMPTY = frozenset({"", "null", "[]", "{}"})

Verdict = Literal["same", "differs", "missed", "extra"]


@dataclass(frozen=True)
class Stretch:
    """Neighbouring words that both sides have, that only the gold has (`missed`), or that only the
    prediction has (`extra`). `skipped` words between `text` and `rest` are not shown."""

    kind: Literal["same", "missed", "extra"]
    text: str
    skipped: int = 0
    rest: str = ""


@dataclass(frozen=True)
class FieldPair:
    """A field of both sides; None for a side that does not have it."""

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
    """A comparison of texts or of fields, or neither if there is nothing to compare; then `problem`
    says why."""

    stretches: list[Stretch] | None = None
    fields: list[FieldPair] | None = None
    problem: str = ""
    has_more: bool = False

    @property
    def is_same(self) -> bool:
        kinds: set[str] = {stretch.kind for stretch in self.stretches or []}
        return kinds | {field.verdict for field in self.fields or []} <= {"same"}


def item_diff(sides: Sides) -> ItemDiff:
    """Compare the two sides. Uses no gold beyond what the sides contain."""
    if sides.prediction is None:
        return ItemDiff(problem="The prediction cannot be read.")
    if isinstance(sides.gold, str) and isinstance(sides.prediction, str):
        gold, prediction = sides.gold.split(), sides.prediction.split()
        if max(len(gold), len(prediction)) > MOST_WORDS:
            return ItemDiff(
                problem="The texts are not compared because one has more than "
                f"{MOST_WORDS:,} words."
            )
        return ItemDiff(stretches=text_diff(gold, prediction))
    if isinstance(sides.gold, dict) and isinstance(sides.prediction, dict):
        pairs = field_diff(sides.gold, sides.prediction)
        return ItemDiff(fields=pairs[:MOST_ROWS], has_more=len(pairs) > MOST_ROWS)
    return ItemDiff(problem="Gold and prediction have different types.")


def text_diff(gold: Sequence[str], prediction: Sequence[str]) -> list[Stretch]:
    """Compare the words of both texts in order.

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
    """Compare by path, with the numbers of lists in numeric order, the same on every database.
    Empty fields count as missing.

    >>> [(each.path, each.verdict) for each in field_diff({"b": 1, "a": 2}, {"b": 1, "c": 0})]
    [('a', 'missed'), ('b', 'same'), ('c', 'extra')]
    """
    ours, theirs = _by_path(gold), _by_path(prediction)
    return [
        FieldPair(path, _shown(ours.get(path)), _shown(theirs.get(path)))
        for path in sorted(ours.keys() | theirs.keys(), key=_natural)
    ]


def _by_path(value: Mapping[str, Any]) -> dict[str, FieldRow]:
    # One more of each than is shown, to detect that there are more.
    filled = (row for row in field_rows(value) if row.text not in _EMPTY)
    return {row.path: row for row in islice(filled, MOST_ROWS + 1)}


def _shown(row: FieldRow | None) -> str | None:
    if row is None:
        return None
    return f"{row.text[:MOST_CHARACTERS]}… (cut off)" if row.is_cut else row.text


def _natural(path: str) -> list[tuple[str, int]]:
    """A sort key that puts `detail[10]` after `detail[9]`."""
    parts = re.split(r"\[(\d+)\]", path)
    return [
        (text, int(number)) for text, number in zip(parts[::2], [*parts[1::2], "-1"], strict=True)
    ]
