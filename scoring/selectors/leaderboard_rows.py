"""The rows of a section of a leaderboard: figures, ranks, and which are the best of a column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from scoring.models import Entry

from .figures import interval_text
from .headings import BoardColumn
from .ranking import best_values, compared_ranks, competition_ranks, is_score

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
