"""The columns of a leaderboard, their headings, and sorting."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from scoring.benchmarks import Column, View
from scoring.figures import show, stated
from scoring.models import Board, Phase

RANK_PREFIX = "rank_"
NAME, SIZE = "name", "size"
# Requests rows grouped by kind of system on a board whose own order is another.
GROUPED = "grouped"


@dataclass(frozen=True, kw_only=True)
class BoardColumn:
    """A column of the leaderboard's table: a figure, or the rank by a figure.

    `basis` is the key of the score it shows or ranks by, `reported` that of rows that do not have
    it, from publications. The table is ordered by the rank that `decides`.
    """

    key: str
    label: str
    group: str
    help: str
    basis: str
    decides: bool = False
    reported: str = ""
    is_rank: bool
    higher_is_better: bool
    unit: str
    decimals: int

    @property
    def meaning(self) -> str:
        """The help text as it reads inside a sentence."""
        return _inside(self.help)

    def show(self, value: float | None) -> str:
        return show(value, unit=self.unit, decimals=self.decimals)

    def value(self, scores: Mapping[str, Any]) -> float | None:
        return stated(scores, self.basis, self.reported)

    def standing(self, scores: Mapping[str, Any]) -> float | None:
        """The value that ranks the row: its own, or the coarser one that an entry has under the
        rank's key because its own is withheld."""
        value = self.value(scores)
        return stated(scores, self.key) if value is None else value


def board_columns(columns: Sequence[Column]) -> tuple[BoardColumn, ...]:
    """Return the headline figures of each group, followed by the ranks by them."""
    shown: list[BoardColumn] = []
    for _, members in groupby(columns, key=lambda column: column.group):
        figures = list(members)
        shown += [figure_column(column) for column in figures if column.headline]
        shown += [_rank(column) for column in figures if column.rank]
    return tuple(shown)


def column_groups(columns: Sequence[Column]) -> list[str]:
    """Return the names of the columns' groups, in order."""
    return list(dict.fromkeys(column.group for column in board_columns(columns)))


def of_groups(columns: tuple[BoardColumn, ...], groups: Collection[str]) -> tuple[BoardColumn, ...]:
    """Return the columns of these groups, or all if none are given. The group of the main rank
    is always included. Groups that the benchmark no longer has are ignored."""
    known = {column.group for column in columns}
    chosen = known & set(groups)
    if not chosen:
        return columns
    chosen |= {column.group for column in columns if column.decides}
    return tuple(column for column in columns if column.group in chosen)


def figure_column(column: Column, *, label: str = "") -> BoardColumn:
    """Return the column of a figure, with its own label unless another is given."""
    return BoardColumn(
        key=column.key,
        label=label or column.label,
        group=column.group,
        help=column.help,
        basis=column.key,
        reported=column.reported,
        is_rank=False,
        higher_is_better=column.direction == "up",
        unit=column.unit,
        decimals=column.decimals,
    )


def _rank(basis: Column) -> BoardColumn:
    return BoardColumn(
        key=RANK_PREFIX + basis.key,
        label="Rank",
        group=basis.group,
        help=f"Rank by {_inside(basis.help)}",
        basis=basis.key,
        reported=basis.reported,
        is_rank=True,
        higher_is_better=basis.direction == "up",
        unit="",
        decimals=0,
        decides=basis.rank == "board",
    )


def _inside(words: str) -> str:
    """Return words as they read inside a sentence: abbreviations such as FFA keep their capitals.

    >>> _inside("Mean F1 of the tasks"), _inside("FFA on tax forms")
    ('mean F1 of the tasks', 'FFA on tax forms')
    """
    return words[:1].lower() + words[1:] if words[1:2].islower() else words


@dataclass(frozen=True)
class Sort:
    """The requested sort column, best first unless reversed; no column for the grouped table."""

    key: str = ""
    is_reversed: bool = False

    @classmethod
    def parse(cls, text: str, columns: Sequence[BoardColumn]) -> "Sort":
        """Parse `ffa` or `-ffa`. Unknown columns are ignored."""
        key = text.removeprefix("-")
        known = {NAME, SIZE} | {column.key for column in columns}
        return cls(key, text.startswith("-")) if key in known else cls()


@dataclass(frozen=True)
class Head:
    """A column heading and the link that sorts by it."""

    label: str
    help: str
    query: str
    aria_sort: str
    """The `aria-sort` value of the sorted column; empty for others."""
    arrow: str = ""
    is_figure: bool = True


def explanations(columns: Sequence[BoardColumn]) -> list[tuple[str, str, bool]]:
    """Return the legend of some columns: label, help and whether higher is better. Columns with the
    same definition share a line, with all their labels."""
    lines: dict[tuple[str, bool], dict[str, None]] = {}
    for column in columns:
        lines.setdefault((column.help, column.higher_is_better), {})[column.label] = None
    return [
        (", ".join(labels), words, higher_is_better)
        for (words, higher_is_better), labels in lines.items()
    ]


def head_groups(columns: Sequence[BoardColumn]) -> list[tuple[str, int]]:
    """Return headings over neighbouring columns, such as `General (%)`, with the number of columns.
    The unit is given if all figures of the group share it."""
    groups = []
    for label, members in groupby(columns, key=lambda column: column.group):
        figures = list(members)
        units = {column.unit for column in figures if not column.is_rank}
        unit = f" ({units.pop()})" if len(units) == 1 and "" not in units else ""
        groups.append((label + unit, len(figures)))
    return groups


def heads(columns: Sequence[BoardColumn], sort: Sort, query: Mapping[str, Any]) -> list[Head]:
    """Return the headings of model, size and the columns. `query` holds the other parameters that
    the links keep."""
    texts = [("Model", NAME, "Sort by name"), ("Size", SIZE, "Sort by number of parameters")]
    return [
        Head(label, words, *_link(key, sort, query, ascending_first=True), is_figure=False)
        for label, key, words in texts
    ] + [
        Head(
            column.label,
            column.help,
            *_link(
                column.key,
                sort,
                query,
                ascending_first=column.is_rank or not column.higher_is_better,
            ),
            arrow="" if column.is_rank or column.higher_is_better else "↓",
        )
        for column in columns
    ]


def _lower_first(column: BoardColumn) -> bool:
    """Whether the smallest figure is the best, as for ranks."""
    return column.is_rank or not column.higher_is_better


def _link(
    key: str, sort: Sort, query: Mapping[str, Any], *, ascending_first: bool
) -> tuple[str, str]:
    """Return the query that sorts by the column, or reverses it, and the value of `aria-sort`."""
    is_current = sort.key == key
    turned = "-" if is_current and not sort.is_reversed else ""
    link = urlencode({**query, "sort": turned + key}, doseq=True)
    if not is_current:
        return link, ""
    return link, "ascending" if ascending_first != sort.is_reversed else "descending"


@dataclass(frozen=True)
class TableFrame:
    """One table of a board: the benchmark's own, or that of a view."""

    views: tuple[View, ...]
    view: View | None
    columns: tuple[BoardColumn, ...]
    ranking: tuple[BoardColumn, ...]
    """All columns of the table, including those that the board hides."""
    sort: Sort


def table_frame(board: Board, phase: Phase | None, sort: str = "", *, view: str = "") -> TableFrame:
    """Return the table for `view`, the key of one of the benchmark's views; any other value gives
    the benchmark's own table. Without `sort`, the board's order applies. Makes no query."""
    views = board_views(board, phase)
    chosen = next((each for each in views if each.key == view), None)
    ranking = board_columns(chosen.columns if chosen else main_columns(board, phase))
    columns = ranking if chosen else of_groups(ranking, board.column_groups)
    order = Sort.parse(sort or board.default_sort, columns)
    return TableFrame(views, chosen, columns, ranking, order)


def main_columns(board: Board, phase: Phase | None) -> tuple[Column, ...]:
    return board.spec.columns if phase is None else phase.columns


def board_views(board: Board, phase: Phase | None) -> tuple[View, ...]:
    spec = board.spec
    return spec.views_for(spec.check_options({} if phase is None else phase.options))


def group_names(board: Board) -> list[str]:
    """Return the column groups of the leaderboards of all phases."""
    names = (name for phase in board.phases.all() for name in column_groups(phase.columns))
    return list(dict.fromkeys(names))


def sort_columns(board: Board) -> list[tuple[str, str]]:
    """Return the columns of all phases of a board, as (key, label)."""
    columns = {
        column.key: f"{column.group}: {column.label}" if column.group else column.label
        for phase in board.phases.all()
        for column in phase.columns
    }
    return list(columns.items())
