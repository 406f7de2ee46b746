"""The fields of one graded item: each gold value with its verdict and its place on both sides.

A benchmark without facts describes its fields with a `FieldGrades`, for the pages that show which
values are wrong and where.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, pairwise
from typing import Any, Literal, NamedTuple

from rapidfuzz.distance import Indel

from .items import ItemResult, Options, Payload, Sides, excerpt

# The most of a path and of a text that a row holds.
LONGEST_PATH = 300
MOST_CHARACTERS = 2000


@dataclass(frozen=True)
class FieldRow:
    """A field of a JSON value: its path, such as `fields.detail[0].amount`, and its text."""

    path: str
    text: str
    is_cut: bool = False


def field_rows(value: Mapping[str, Any]) -> Iterator[FieldRow]:
    """Walk depth first without recursion, since untrusted JSON may be nested deeply."""
    waiting: list[Iterator[tuple[str, Any]]] = [_inside("", value)]
    while waiting:
        path, part = next(waiting[-1], ("", None))
        if not path:
            waiting.pop()
        elif isinstance(part, dict | list) and part and not _is_plain_list(part):
            waiting.append(_inside(path, part))
        else:
            text = _text(part)
            yield FieldRow(
                path[:LONGEST_PATH], text[:MOST_CHARACTERS], is_cut=len(text) > MOST_CHARACTERS
            )


def _inside(path: str, value: Mapping[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        return ((f"{path}[{n}]", part) for n, part in enumerate(value))
    before = f"{path}." if path else ""
    return ((f"{before}{key}" or "(no name)", part) for key, part in value.items())


def _is_plain_list(value: Any) -> bool:
    """Whether the list is short and simple enough for one line, such as counts or a box."""
    return (
        isinstance(value, list)
        and len(value) <= 8
        and not any(isinstance(part, dict | list) for part in value)
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# Larger sides are cut, and larger texts are not aligned.
MOST_ROWS = 500
MOST_WORDS = 10_000

NOT_FOUND, WRONG = "not found", "wrong"


class FieldName(NamedTuple):
    """A gold value as results name it: the group of its kind, its name and the beginning of its
    text."""

    kind: str
    name: str
    value: str


class GradedField(NamedTuple):
    """A gold value and how it was read. `read` is None if nothing was found, `error` empty if it is
    right."""

    kind: str
    name: str
    value: str
    read: str | None
    error: str

    @property
    def key(self) -> FieldName:
        return FieldName(self.kind, excerpt(self.name), excerpt(self.value))


class Piece(NamedTuple):
    """A piece of a side, and the numbers of the fields that are there, from 0."""

    text: str
    fields: tuple[int, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """One side of an item as rows of pieces: name and value, the cells of a table, or the pieces of
    a line."""

    form: Literal["record", "table", "text"]
    rows: tuple[tuple[Piece, ...], ...]
    is_cut: bool = False


@dataclass(frozen=True)
class GradedItem:
    """The fields of an item, in an order that depends only on the gold, and both sides. The
    prediction is None if there is none."""

    fields: tuple[GradedField, ...]
    gold: Sheet
    prediction: Sheet | None


class WrongFields(NamedTuple):
    """The wrong fields of an item. `is_cut` if the result lists only the first of them."""

    fields: Counter[FieldName]
    is_cut: bool = False


@dataclass(frozen=True)
class FieldGrades:
    """How a benchmark grades by field.

    - `wrong(result)`: the wrong fields, from the result alone; None for an item that was not
      graded.
    - `item(gold, prediction, result, options)`: all fields and both sides; None if the item has no
      fields.
    - `noun`: what readers call a field.
    """

    wrong: Callable[[Mapping[str, Any]], WrongFields | None]
    item: Callable[[Payload, Payload | None, ItemResult, Options], GradedItem | None]
    noun: str = "field"


# The name of a whole item, for results that do not list its fields.
WHOLE = "whole item"


_INDEX = re.compile(r"\[\d+\]")


def record_sheet(record: Mapping[str, Any], fields: Sequence[tuple[str, str]]) -> Sheet:
    """Return a record with its fields, given as path and value, by number.

    A path has no positions in lists and includes everything below it. Its rows are those that
    contain the value, or all of them if none does, since values may be normalised.

    >>> record_sheet({"a": ["x", "y"], "b": 1}, [("b", "1")]).rows[1]
    (Piece(text='b', fields=()), Piece(text='1', fields=(0,)))
    """
    rows = list(islice(field_rows(record), MOST_ROWS + 1))
    paths = [_INDEX.sub("", row.path) for row in rows]
    below: defaultdict[str, list[int]] = defaultdict(list)
    for at, path in enumerate(paths):
        parts = path.split(".")
        for end in range(1, len(parts) + 1):
            below[".".join(parts[:end])].append(at)
    marked: defaultdict[int, list[int]] = defaultdict(list)
    for number, (path, value) in enumerate(fields):
        here = below[path]
        for at in [at for at in here if value and value in rows[at].text] or here:
            marked[at].append(number)
    pieces = [(Piece(row.path), Piece(row.text, tuple(marked[at]))) for at, row in enumerate(rows)]
    return Sheet("record", tuple(pieces[:MOST_ROWS]), is_cut=len(rows) > MOST_ROWS)


def graded_record(
    fields: Sequence[GradedField], shown: Sides, response: str | None, *, is_whole: bool = False
) -> GradedItem:
    """Return an item whose gold is a record. A prediction that is none is shown as its text.

    With `is_whole`, values are not searched for in the rows of their field.
    """
    gold, predicted = shown
    assert isinstance(gold, dict)
    ours = [(field.name, "" if is_whole else field.value) for field in fields]
    sheet = None if response is None else text_sheet(response)
    if isinstance(predicted, dict):
        theirs = [(field.name, "" if is_whole else field.read or "") for field in fields]
        sheet = record_sheet(predicted, theirs)
    return GradedItem(tuple(fields), record_sheet(gold, ours), sheet)


def text_sheet(text: str, places: Iterable[tuple[int, int, int]] = ()) -> Sheet:
    """Return the lines of a text. A place is the start and end of a field, and its number.

    >>> text_sheet("a b", [(2, 3, 0)]).rows
    ((Piece(text='a ', fields=()), Piece(text='b', fields=(0,))),)
    """
    coming = sorted(places, reverse=True)
    here: list[tuple[int, int, int]] = []
    rows, start = [], 0
    for line in islice(text.split("\n"), MOST_ROWS):
        end = start + len(line)
        while coming and coming[-1][0] < end:
            here.append(coming.pop())
        here = [place for place in here if place[1] > start]
        rows.append(_pieces(text, start, end, here))
        start = end + 1
    return Sheet("text", tuple(rows), is_cut=start <= len(text))


def _pieces(
    text: str, start: int, end: int, places: Sequence[tuple[int, int, int]]
) -> tuple[Piece, ...]:
    """Cut a line at the borders of its places, which are sorted."""
    borders = {start, end}.union(*({max(a, start), min(b, end)} for a, b, _ in places))
    coming = list(reversed(places))
    here: list[tuple[int, int, int]] = []
    pieces = []
    for first, last in pairwise(sorted(borders)):
        while coming and coming[-1][0] <= first:
            here.append(coming.pop())
        here = [place for place in here if place[1] > first]
        pieces.append(Piece(text[first:last], tuple(number for _, _, number in here)))
    return tuple(pieces)


class Aligned(NamedTuple):
    """For every read word the unit of the gold that it belongs to, if any, and which units are
    fully right."""

    units: list[int | None]
    right: list[bool]


def align(gold: Sequence[Sequence[str]], read: Sequence[str]) -> Aligned | None:
    """Align the words of the gold's units, such as lines, with the words that were read. None if
    there are too many. Words between the same matches belong together in order.

    >>> align([["Open", "7"], ["to", "3"]], ["Open", "7", "to3"])
    Aligned(units=[0, 0, 1], right=[True, False])
    """
    words = [(word, unit) for unit, unit_words in enumerate(gold) for word in unit_words]
    if max(len(words), len(read)) > MOST_WORDS:
        return None
    units: list[int | None] = [None] * len(read)
    right = [True] * len(gold)
    opcodes = Indel.opcodes([word for word, _ in words], read)
    for is_same, group in groupby(opcodes, key=lambda code: code.tag == "equal"):
        codes = list(group)
        wanted = [at for code in codes for at in range(code.src_start, code.src_end)]
        read_at = [at for code in codes for at in range(code.dest_start, code.dest_end)]
        for at in wanted:
            right[words[at][1]] &= is_same
        before = words[codes[0].src_start - 1][1] if words and codes[0].src_start else None
        for place, at in enumerate(read_at):
            units[at] = words[wanted[min(place, len(wanted) - 1)]][1] if wanted else before
    return Aligned(units, right)


def verdict(read: str | None, *, is_right: bool) -> str:
    """Return the error of a field in words."""
    if is_right:
        return ""
    return NOT_FOUND if read is None else WRONG


_WORD = re.compile(r"\S+")


def graded_lines(gold: str, read: str, kind: str) -> GradedItem | None:
    """Grade a text line by line: a line is right if all its words were read in order."""
    lines = [line for line in gold.split("\n") if line.strip()]
    matches = list(_WORD.finditer(read))
    words = [match.group() for match in matches]
    aligned = align([line.split() for line in lines], words)
    if aligned is None:
        return None
    by_unit: defaultdict[int, list[str]] = defaultdict(list)
    for word, unit in zip(words, aligned.units, strict=True):
        if unit is not None:
            by_unit[unit].append(word)
    fields = []
    for at, (line, is_right) in enumerate(zip(lines, aligned.right, strict=True)):
        own = " ".join(by_unit[at]) or None
        fields.append(
            GradedField(kind, f"line {at + 1}", line.strip(), own, verdict(own, is_right=is_right))
        )
    numbers = iter(range(len(lines)))
    rows = tuple(
        (Piece(line, (next(numbers),)) if line.strip() else Piece(line),)
        for line in gold.split("\n")
    )
    # Neighbouring words of a line are one place.
    places: list[tuple[int, int, int]] = []
    for match, unit in zip(matches, aligned.units, strict=True):
        if unit is None:
            continue
        if places and places[-1][2] == unit and "\n" not in read[places[-1][1] : match.start()]:
            places[-1] = (places[-1][0], match.end(), unit)
        else:
            places.append((match.start(), match.end(), unit))
    return GradedItem(
        tuple(fields),
        Sheet("text", rows[:MOST_ROWS], is_cut=len(rows) > MOST_ROWS),
        text_sheet(read, places),
    )


Cells = Sequence[Sequence[str]]


def graded_cells(gold: Cells, read: Cells, kind: str) -> GradedItem | None:
    """Grade a table cell by cell, in the order of rows. White space in cells does not count."""
    ours = [
        (row, column, cell) for row, cells in enumerate(gold) for column, cell in enumerate(cells)
    ]
    theirs = [cell for cells in read for cell in cells]
    aligned = align([[_packed(cell)] for _, _, cell in ours], [_packed(cell) for cell in theirs])
    if aligned is None:
        return None
    by_cell: defaultdict[int, list[str]] = defaultdict(list)
    for cell, unit in zip(theirs, aligned.units, strict=True):
        if unit is not None:
            by_cell[unit].append(cell)
    fields = []
    for at, ((row, column, cell), is_right) in enumerate(zip(ours, aligned.right, strict=True)):
        own = " ".join(by_cell[at]) if at in by_cell else None
        name = f"row {row + 1}, column {column + 1}"
        fields.append(GradedField(kind, name, cell, own, verdict(own, is_right=is_right)))
    numbers = [(number,) for number in range(len(ours))]
    units = [() if unit is None else (unit,) for unit in aligned.units]
    return GradedItem(tuple(fields), _cell_sheet(gold, numbers), _cell_sheet(read, units))


def _packed(cell: str) -> str:
    return "".join(cell.split())


def _cell_sheet(cells: Cells, numbers: Iterable[tuple[int, ...]]) -> Sheet:
    own = iter(numbers)
    rows = tuple(tuple(Piece(cell, next(own)) for cell in row) for row in cells)
    return Sheet("table", rows[:MOST_ROWS], is_cut=len(rows) > MOST_ROWS)
