"""Rows of a leaderboard with ranks and best values, and sections: comparable rows of one source.

Ranks and best values are pure functions over plain numbers. Figures of all rows of a section are
computed once, since other pages and filters of the table show the same sections.
"""

import hashlib
import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

from django.db.models import Expression, F
from django.db.models.fields.json import KeyTransform

from scoring.figures import interval_text, is_score
from scoring.models import Category, Entry

from .columns import BoardColumn


def competition_ranks(
    values: Sequence[float | None], *, higher_is_better: bool = True
) -> list[int | None]:
    """Return 1 + the number of strictly better values. Equal values share a rank; None has none.

    >>> competition_ranks([0.5, 0.9, None, 0.5, 0.1])
    [2, 1, None, 2, 4]
    >>> competition_ranks([0.5, 0.9], higher_is_better=False)
    [1, 2]
    """
    sign = -1 if higher_is_better else 1
    ordered = sorted(sign * value for value in values if value is not None)
    return [None if value is None else bisect_left(ordered, sign * value) + 1 for value in values]


def field_key(gradings: Iterable[int | None]) -> str:
    """Return a key of a set of compared gradings. Their order does not matter.

    >>> field_key([3, 1]) == field_key([1, 3]) != field_key([1])
    True
    """
    listed = ",".join(str(pk) for pk in sorted(pk or 0 for pk in gradings))
    return hashlib.sha256(listed.encode()).hexdigest()[:32]


class Compared(Protocol):
    """The rank fields of an entry; see `scoring.models.Entry`."""

    grading_id: int | None
    ranks: dict[str, int]
    ranked_among: str


def compared_ranks(
    entries: Sequence[Compared], taking_part: Sequence[bool], figure: str
) -> list[int | None] | None:
    """Return the stored ranks by a figure, or None unless they compare exactly these rows."""
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
    """Return the best value and the best of the remaining ones; None if there is none. All tied
    rows are best, so the second value never equals the best.

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
    """Return the annotations of a query of entries that `tokens_of` needs."""
    counts = "grading__counts"
    return {
        "items_total": F("grading__items_total"),
        "line_tokens": KeyTransform("output_tokens", counts),
        "token_lines": KeyTransform("with_output_tokens", counts),
    }


def tokens_of(entry: Entry) -> Tokens | None:
    """Return the mean number of tokens per item; None if unknown, or if the row was not graded
    here, since its number of items is unknown.

    The total on the model card takes precedence over the mean of the predictions that state their
    tokens.
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
    """Return the notes as sentences, from pairs of a row's name and its note: first the notes that
    all rows share, then the others after the names of their rows.

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
    """A figure as shown: rounded text, and whether it is the best or second of the section."""

    text: str
    is_best: bool = False
    is_second: bool = False
    interval: str = ""
    """The 95% interval with one decimal less; one number if both ends are equal, empty if there is
    none."""


class RowTeam(NamedTuple):
    name: str
    slug: str


@dataclass(frozen=True)
class Contest:
    """One column over the rows of a section: the value of each row that takes part, its rank, and
    the two best values."""

    values: list[float | None]
    ranks: list[int | None]
    best: float | None
    second: float | None
    is_compared: bool = False


@dataclass(frozen=True)
class Row:
    """An entry with unrounded values and ranks, None where there is none.

    `place` is its position in the contests. Most readers of a table need the texts of few rows, so
    that cells are made on first use.
    """

    entry: Entry
    submission_id: int | None
    has_manifest: bool
    """Whether its submission has a run manifest."""
    team: RowTeam | None
    """The team, with its current name."""
    values: Values
    ranks: dict[str, int | None]
    columns: Sequence[BoardColumn]
    contests: Mapping[str, Contest]
    place: int

    @property
    def is_disqualified(self) -> bool:
        return self.entry.is_disqualified

    @property
    def is_marked(self) -> bool:
        """Whether its name is followed by a source, a badge or a reason."""
        entry = self.entry
        is_special = entry.is_sample or self.has_manifest or entry.kind == Entry.Kind.HUMAN
        return is_special or bool(entry.verdict or self.unranked)

    @cached_property
    def unranked(self) -> str:
        """Why a row that takes part has no rank, in words; empty for others."""
        rank = next((column for column in self.columns if column.decides), None)
        if not self.entry.is_ranked or rank is None or self.ranks[rank.key]:
            return ""
        lacking = [
            column.label
            for column in self.columns
            if not (column.is_rank or column.reported) and self.values[column.basis] is None
        ]
        return f"No rank, because there is no score for {', '.join(lacking)}" if lacking else ""

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(_cell(column, self) for column in self.columns)

    @property
    def standing(self) -> str:
        """The main rank and its score, which a phone shows below the name; empty without either."""
        texts = {
            column.key: cell.text for column, cell in zip(self.columns, self.cells, strict=True)
        }
        labels = {column.key: column.label for column in self.columns}
        rank = next((column for column in self.columns if column.decides), None)
        if rank is None or rank.basis not in texts:
            return ""
        return f"Rank {texts[rank.key]} · {labels[rank.basis]} {texts[rank.basis]}"

    @cached_property
    def markup(self) -> dict[Any, Any]:
        """The row as pages show it, kept as long as its table; see the tag `kept`."""
        return {}


def _by_basis(columns: Sequence[BoardColumn]) -> dict[str, BoardColumn]:
    return {column.basis: column for column in columns}


def _values(entries: Sequence[Entry], columns: Mapping[str, BoardColumn]) -> list[Values]:
    """Return the scores of these columns; None for values that are not finite numbers."""
    return [
        {basis: column.value(entry.scores) for basis, column in columns.items()}
        for entry in entries
    ]


def ranked_rows(
    entries: Sequence[Entry], columns: Sequence[BoardColumn], required: Sequence[BoardColumn]
) -> list[Row]:
    """Return the rows of a section with their ranks, in the order of `entries`.

    A row needs a value in each of the `required` ranks, which the table may hide. Ranks are by
    significance if all rows that take part were compared with each other; see
    `Contest.is_compared`.
    """
    values = _values(entries, _by_basis(columns))
    contests = _contests(entries, columns, values, _taking_part(entries, required))
    ranked = [(column.key, contests[column.key].ranks) for column in columns if column.is_rank]
    return [
        Row(
            entry=entry,
            submission_id=getattr(entry, "submission_id", None),
            has_manifest=getattr(entry, "manifest_id", None) is not None,
            team=_team(entry),
            values=values[place],
            ranks={key: ranks[place] for key, ranks in ranked},
            columns=columns,
            contests=contests,
            place=place,
        )
        for place, entry in enumerate(entries)
    ]


def _contests(
    entries: Sequence[Entry],
    columns: Sequence[BoardColumn],
    values: Sequence[Values],
    taking_part: Sequence[bool],
) -> dict[str, Contest]:
    found = {column.key: _contest(column, entries, values, taking_part) for column in columns}
    for column in columns:
        if column.is_rank and (ranks := compared_ranks(entries, taking_part, column.basis)):
            found[column.key] = replace(found[column.key], ranks=ranks, is_compared=True)
    return found


def _team(entry: Entry) -> RowTeam | None:
    name = getattr(entry, "team_name", None)
    return RowTeam(name, getattr(entry, "team_slug", "")) if name else None


def _taking_part(entries: Sequence[Entry], required: Sequence[BoardColumn]) -> list[bool]:
    """Return which rows take part: those that are not disqualified and have every figure that
    ranks."""
    return [
        entry.is_ranked and all(rank.standing(entry.scores) is not None for rank in required)
        for entry in entries
    ]


def _contest(
    column: BoardColumn,
    entries: Sequence[Entry],
    values: Sequence[Values],
    taking_part: Sequence[bool],
) -> Contest:
    standings = (
        [column.standing(entry.scores) for entry in entries]
        if column.is_rank
        else [row[column.basis] for row in values]
    )
    contested = [
        value if takes_part else None
        for value, takes_part in zip(standings, taking_part, strict=True)
    ]
    best, second = best_values(contested, higher_is_better=column.higher_is_better)
    ranks = competition_ranks(contested, higher_is_better=column.higher_is_better)
    return Contest(contested, ranks, best, second)


def _cell(column: BoardColumn, row: Row) -> Cell:
    contest = row.contests[column.key]
    if column.is_rank:
        rank = row.ranks[column.key]
        return Cell("–" if rank is None else str(rank), is_best=rank == 1)
    contested = contest.values[row.place]
    is_best = contested is not None and contested == contest.best
    is_second = contested is not None and contested == contest.second
    ends = row.entry.intervals.get(column.basis)
    interval = interval_text(ends, unit=column.unit, decimals=column.decimals)
    return Cell(column.show(row.values[column.basis]), is_best, is_second, interval)


CATEGORY_HEADINGS = {
    Category.OCR_PIPELINE: "OCR pipelines",
    Category.OCR_MODEL: "OCR models",
    Category.OPEN_VLM: "Open-source vision-language models",
    Category.PROPRIETARY_VLM: "Proprietary vision-language models",
    Category.FINE_TUNED: "Fine-tuned for the task",
    Category.OTHER: "Other models",
}


@dataclass(frozen=True)
class RowGroup:
    """Neighbouring rows under one sub-heading. Most sorted tables have no sub-headings."""

    heading: str
    rows: tuple[Row, ...]

    @property
    def is_by_category(self) -> bool:
        """Whether the heading names a kind of system."""
        return self.heading in CATEGORY_HEADINGS.values()


@dataclass(frozen=True)
class Section:
    """Comparable rows and their source."""

    kind: str
    key: str
    """The signature of graded rows, the publication of reported ones."""
    url: str
    groups: tuple[RowGroup, ...]
    is_compared: bool = False
    """Whether ranks count only significantly better rows."""

    @cached_property
    def has_intervals(self) -> bool:
        return any(
            column.basis in row.entry.intervals
            for row in self.rows
            if row.entry.intervals
            for column in row.columns
            if not column.is_rank
        )

    @cached_property
    def present(self) -> set[str]:
        """The keys of all figures that any of its rows has, in this view or another."""
        return {
            key for row in self.rows for key, value in row.entry.scores.items() if is_score(value)
        }

    @cached_property
    def kept(self) -> dict[str, Any]:
        """Texts about all of its rows, kept as long as the table."""
        return {}

    @cached_property
    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group.rows]

    @cached_property
    def front(self) -> tuple[list[Row], ...]:
        """The rows of the first and of the second main rank, best first; fewer if there are
        fewer ranks. Every page of a table shows who leads."""
        rank = self._deciding
        places = sorted({place for row in self.rows if (place := row.ranks[rank.key])})
        return tuple(
            best_first((row for row in self.rows if row.ranks[rank.key] == place), self.columns)
            for place in places[:2]
        )

    @cached_property
    def extent(self) -> tuple[float, ...]:
        """The lowest and highest of the main score and of the ends of their intervals; empty
        without scores."""
        basis = self._deciding.basis
        ends = [
            end
            for row in self.rows
            if (value := row.values[basis]) is not None
            for end in (value, *row.entry.intervals.get(basis, ()))
        ]
        return (min(ends), max(ends)) if ends else ()

    @property
    def columns(self) -> Sequence[BoardColumn]:
        return self.rows[0].columns

    @property
    def _deciding(self) -> BoardColumn:
        return next(column for column in self.columns if column.decides)

    @cached_property
    def size(self) -> int:
        """Number of rows."""
        return sum(len(group.rows) for group in self.groups)

    @property
    def is_comparable(self) -> bool:
        """Whether its rows can be compared item by item."""
        return self.kind == Entry.Kind.GRADED and self.size > 1

    @property
    def is_human_run(self) -> bool:
        return self.kind == Entry.Kind.HUMAN and any(row.entry.is_graded for row in self.rows)

    @property
    def is_ranked(self) -> bool:
        return any(row.entry.is_ranked for row in self.rows)

    @property
    def notes(self) -> list[str]:
        """The notes of its rows, each sentence once."""
        return row_notes([(row.entry.name, row.entry.notes) for row in self.rows])


def best_first(rows: Iterable[Row], columns: Sequence[BoardColumn]) -> list[Row]:
    """Sort by the main rank, then by its figure. On the page, reported rows keep the order of
    their source instead."""
    rank = next(column for column in columns if column.decides)
    sign = -1 if rank.higher_is_better else 1
    return sorted(
        rows,
        key=lambda row: (
            row.ranks[rank.key] or math.inf,
            sign * (row.values[rank.basis] or 0.0),
            name_key(row),
        ),
    )


def name_key(row: Row) -> str:
    """Return a sort key that ignores case."""
    return row.entry.name.casefold()
