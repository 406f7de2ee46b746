"""The rows of a section of a leaderboard: figures, ranks, and which are the best of a column.

Ranks and best values are pure functions over plain numbers.
"""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol

from django.db.models import Expression, F
from django.db.models.fields.json import KeyTransform

from scoring.models import Entry

from .columns import BoardColumn
from .figures import interval_text, is_score


def competition_ranks(
    values: Sequence[float | None], *, higher_is_better: bool = True
) -> list[int | None]:
    """1 + the number of strictly better values; equal values share a rank, None has none.

    >>> competition_ranks([0.5, 0.9, None, 0.5, 0.1])
    [2, 1, None, 2, 4]
    >>> competition_ranks([0.5, 0.9], higher_is_better=False)
    [1, 2]
    """
    sign = -1 if higher_is_better else 1
    ordered = sorted(sign * value for value in values if value is not None)
    return [None if value is None else bisect_left(ordered, sign * value) + 1 for value in values]


def field_key(gradings: Iterable[int | None]) -> str:
    """Tells one field of competitors from another: the same gradings, in any order, give the same.

    >>> field_key([3, 1]) == field_key([1, 3]) != field_key([1])
    True
    """
    listed = ",".join(str(pk) for pk in sorted(pk or 0 for pk in gradings))
    return hashlib.sha256(listed.encode()).hexdigest()[:32]


class Compared(Protocol):
    """What an entry knows of its ranks; see `scoring.models.Entry`."""

    grading_id: int | None
    ranks: dict[str, int]
    ranked_among: str


def compared_ranks(
    entries: Sequence[Compared], taking_part: Sequence[bool], figure: str
) -> list[int | None] | None:
    """The stored ranks by a figure; None unless all that take part were compared with each other,
    and with nobody else.
    """
    field = [entry for entry, is_in in zip(entries, taking_part, strict=True) if is_in]
    among = field_key(entry.grading_id for entry in field)
    if not field or any(
        entry.ranked_among != among or figure not in entry.ranks for entry in field
    ):
        return None
    return [
        entry.ranks[figure] if is_in else None
        for entry, is_in in zip(entries, taking_part, strict=True)
    ]


def best_values(
    values: Sequence[float | None], *, higher_is_better: bool = True
) -> tuple[float | None, float | None]:
    """The best of the values there are, and the best of all others; None where there is none.
    Rows that tie for the best are all best, so that the second is never equal to it.

    >>> best_values([0.2, None, 0.4, 0.2], higher_is_better=False)
    (0.2, 0.4)
    """
    ordered = sorted({value for value in values if value is not None}, reverse=higher_is_better)
    best, second = [*ordered[:2], None, None][:2]
    return best, second


Source = Literal["card", "lines"]


class Tokens(NamedTuple):
    per_item: float
    source: Source


def token_annotations() -> dict[str, Expression | F]:
    """What a query of entries adds for `tokens_of`."""
    counts = "grading__counts"
    return {
        "items_total": F("grading__items_total"),
        "line_tokens": KeyTransform("output_tokens", counts),
        "token_lines": KeyTransform("with_output_tokens", counts),
    }


def tokens_of(entry: Entry) -> Tokens | None:
    """The mean per item; None for a row that states nothing, and for one that was not graded here,
    of which the number of items is not known.

    The card states tokens of all items together and counts wherever it says anything; else the
    mean of the predictions that state their tokens does.
    """
    items: int | None = getattr(entry, "items_total", None)
    if entry.output_tokens is not None:
        return Tokens(entry.output_tokens / items, "card") if items else None
    total, lines = _whole(entry, "line_tokens"), _whole(entry, "token_lines")
    return Tokens(total / lines, "lines") if total is not None and lines else None


def _whole(entry: Entry, name: str) -> int | None:
    value: Any = getattr(entry, name, None)
    return value if isinstance(value, int) else None


_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def row_notes(rows: Sequence[tuple[str, str]]) -> list[str]:
    """The sentences of the notes, from pairs of a row's name and its note: first what all rows
    say, then the others under the names of the rows that say them.

    >>> row_notes([("A", "Old. Mean of two."), ("B", "Mean of two.")])
    ['Mean of two.', 'A: Old.']
    """
    sayers: dict[str, list[str]] = {}
    for name, note in rows:
        for sentence in dict.fromkeys(filter(None, _BETWEEN_SENTENCES.split(note.strip()))):
            sayers.setdefault(sentence, []).append(name)
    shared = [sentence for sentence, names in sayers.items() if len(names) == len(rows)]
    own: dict[str, list[str]] = {}
    for sentence, names in sayers.items():
        if sentence not in shared:
            own.setdefault(", ".join(names), []).append(sentence)
    return shared + [f"{names}: {' '.join(sentences)}" for names, sentences in own.items()]


Values = dict[str, float | None]


@dataclass(frozen=True)
class Cell:
    """A figure as it is shown: rounded text, and whether it is the section's best or the next."""

    text: str
    is_best: bool = False
    is_second: bool = False
    interval: str = ""
    """The 95 % interval with a decimal less; one number if both ends read the same, empty where
    there is none."""


class RowTeam(NamedTuple):
    name: str
    slug: str


@dataclass(frozen=True)
class Row:
    """An entry with its figures: unrounded values and ranks, None where there is none."""

    entry: Entry
    submission_id: int | None
    team: RowTeam | None
    """The team it belongs to, as it is named today."""
    values: Values
    ranks: dict[str, int | None]
    cells: tuple[Cell, ...]

    @property
    def is_disqualified(self) -> bool:
        return self.entry.is_disqualified


@dataclass(frozen=True)
class Contest:
    """One column over the rows of a section: each row's value if it takes part, its rank, and the
    two best values there are."""

    values: list[float | None]
    ranks: list[int | None]
    best: float | None
    second: float | None
    is_compared: bool = False


def _values(entry: Entry, columns: Sequence[BoardColumn]) -> Values:
    """What the columns need of an entry's scores; None where there is no finite number."""
    bases = {column.basis for column in columns}
    found = {basis: entry.scores.get(basis) for basis in bases}
    return {basis: value if is_score(value) else None for basis, value in found.items()}


def contests_of(
    entries: Sequence[Entry], columns: Sequence[BoardColumn], ranking: Sequence[BoardColumn]
) -> dict[str, Contest]:
    """By column. `ranking` has all columns of the table, those that the board does not show too.
    Ranks are those by significance, if all that take part were compared."""
    values = [_values(entry, columns) for entry in entries]
    scored = [_values(entry, ranking) for entry in entries]
    taking_part = _taking_part(entries, ranking, scored)
    found = {column.key: _contest(column, values, taking_part) for column in columns}
    for column in columns:
        if column.is_rank and (ranks := compared_ranks(entries, taking_part, column.basis)):
            found[column.key] = replace(found[column.key], ranks=ranks, is_compared=True)
    return found


def rows_of(
    entries: Sequence[Entry], columns: Sequence[BoardColumn], contest: Mapping[str, Contest]
) -> list[Row]:
    values = [_values(entry, columns) for entry in entries]
    return [
        Row(
            entry=entry,
            submission_id=getattr(entry, "submission_id", None),
            team=_team(entry),
            values=values[index],
            ranks={
                column.key: contest[column.key].ranks[index] for column in columns if column.is_rank
            },
            cells=tuple(
                _cell(column, entry, values[index], contest[column.key], index)
                for column in columns
            ),
        )
        for index, entry in enumerate(entries)
    ]


def _team(entry: Entry) -> RowTeam | None:
    name = getattr(entry, "team_name", None)
    return RowTeam(name, getattr(entry, "team_slug", "")) if name else None


def _taking_part(
    entries: Sequence[Entry], columns: Sequence[BoardColumn], values: Sequence[Values]
) -> list[bool]:
    """Only rows with a complete score do, which have every figure that ranks; and none that was
    disqualified."""
    required = {column.basis for column in columns if column.is_rank}
    return [
        not entry.is_disqualified and all(row[basis] is not None for basis in required)
        for entry, row in zip(entries, values, strict=True)
    ]


def _contest(column: BoardColumn, values: Sequence[Values], taking_part: Sequence[bool]) -> Contest:
    contested = [
        row[column.basis] if takes_part else None
        for row, takes_part in zip(values, taking_part, strict=True)
    ]
    best, second = best_values(contested, higher_is_better=column.higher_is_better)
    ranks = competition_ranks(contested, higher_is_better=column.higher_is_better)
    return Contest(contested, ranks, best, second)


def _cell(column: BoardColumn, entry: Entry, values: Values, contest: Contest, index: int) -> Cell:
    contested = contest.values[index]
    is_best = contested is not None and contested == contest.best
    is_second = contested is not None and contested == contest.second
    if column.is_rank:
        rank = contest.ranks[index]
        return Cell("–" if rank is None else str(rank), is_best=rank == 1)
    ends = entry.intervals.get(column.basis)
    interval = interval_text(ends, unit=column.unit, decimals=column.decimals)
    return Cell(column.show(values[column.basis]), is_best, is_second, interval)
