"""The leaderboard: entries in sections, ranked, with the best of each column marked.

Every section is ranked on its own: what was graded here under one signature, and what each source
reports. Figures of different sections are never compared. Pinned rows come first, with the rank
they have; disqualified rows come last, without one. A filter hides rows only after they were
ranked.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from django.db.models import F, Model, Q, QuerySet
from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.datasets.models import Dataset
from portal.web.conditional import etag_of
from portal.web.prepared import Parameter, Prepared
from scoring.access import Viewer, are_scores_due, board_for
from scoring.benchmarks import View
from scoring.models import Board, Category, Entry, Phase
from scoring.models.boards import (
    BoardQuerySet,
    PhaseWindow,
    choose_phase,
    windows_of,
    with_releases,
)

from .columns import BoardColumn, Sort, TableFrame, table_frame
from .disclosure import PARTS, entry_as_shown, is_withheld, shown_columns, shown_part
from .filters import ALL_ROWS, RowFilter, parameters
from .rows import Row, contests_of, row_notes, rows_of, token_annotations

CATEGORY_HEADINGS = {
    Category.OCR_PIPELINE: "OCR pipelines",
    Category.OCR_MODEL: "OCR models",
    Category.OPEN_VLM: "Open-source VL models",
    Category.PROPRIETARY_VLM: "Proprietary VL models",
    Category.OTHER: "Other systems",
}


PINNED, OTHERS, DISQUALIFIED = "Pinned", "Others", "Disqualified"


@dataclass(frozen=True)
class RowGroup:
    """Neighbouring rows under one sub-heading; when the table is sorted the most have none."""

    heading: str
    rows: tuple[Row, ...]

    @property
    def is_by_category(self) -> bool:
        """Whether the heading says what kind of systems these are."""
        return self.heading in CATEGORY_HEADINGS.values()


@dataclass(frozen=True)
class Section:
    """Rows that may be compared with each other, and where they come from."""

    kind: str
    key: str
    """The signature of graded rows, the source of reported ones."""
    url: str
    groups: tuple[RowGroup, ...]
    is_compared: bool = False
    """Whether the ranks count those that are significantly better, and not all that are better."""

    @property
    def has_intervals(self) -> bool:
        return any(cell.interval for row in self.rows for cell in row.cells)

    @property
    def rows(self) -> list[Row]:
        return [row for group in self.groups for row in group.rows]

    @property
    def is_comparable(self) -> bool:
        """Whether rows of it can be compared item by item."""
        return self.kind == Entry.Kind.GRADED and len(self.rows) > 1

    @property
    def notes(self) -> list[str]:
        """What its rows say of themselves, each sentence once."""
        return row_notes([(row.entry.name, row.entry.notes) for row in self.rows])


@dataclass(frozen=True)
class Leaderboard:
    """One table of a board: the benchmark's own, or that of a view."""

    board: Board
    phase: Phase | None
    views: tuple[View, ...]
    view: View | None
    columns: tuple[BoardColumn, ...]
    sort: Sort
    sections: tuple[Section, ...]
    part: str = ""
    """Of a phase in parts: the one that the graded rows count."""
    has_graded: bool = False
    """Whether anything was graded, shown or not."""
    is_withheld: bool = False
    """Whether the phase keeps back what was graded, because it rounds and this table counts."""
    total: int = 0
    """Rows, shown or not."""

    @property
    def shown(self) -> int:
        return sum(len(section.rows) for section in self.sections)


def leaderboard(
    board: Board,
    phase: Phase | None,
    sort: str = "",
    *,
    view: str = "",
    part: str = "",
    wanted: RowFilter = ALL_ROWS,
) -> Leaderboard:
    """The board with the graded entries of one phase and all that is reported. One query.

    `view` and `sort` are those of `table_frame`; `wanted` says which rows are shown. `part` is for
    organisers: a part that is not told now.
    """
    frame = table_frame(board, phase, sort, view=view)
    entries = (
        Entry.objects.filter(Q(phase=phase) | ~Q(kind=Entry.Kind.GRADED), board=board)
        .annotate(
            submission_id=F("grading__submission_id"),
            team_name=F("grading__submission__team__name"),
            team_slug=F("grading__submission__team__slug"),
            **token_annotations(),
        )
        .order_by("id")
    )
    now = timezone.now()
    told = (entry_as_shown(entry, phase, now, part=part) for entry in entries)
    shown = rows_of_table(frame, told)
    has_graded = any(entry.kind == Entry.Kind.GRADED for entry in shown)
    withheld = phase is not None and is_withheld(phase, frame.view)
    if withheld:
        shown = [entry for entry in shown if entry.kind != Entry.Kind.GRADED]
    sections = ranked_sections(frame, phase, shown)
    return Leaderboard(
        board=board,
        phase=phase,
        views=frame.views,
        view=frame.view,
        columns=frame.columns,
        sort=frame.sort,
        sections=tuple(_kept(sections, wanted)),
        part=(part or shown_part(phase, now)) if phase and phase.has_parts else "",
        has_graded=has_graded,
        is_withheld=withheld,
        total=len(shown),
    )


def rows_of_table(frame: TableFrame, entries: Iterable[Entry]) -> list[Entry]:
    """The entries that stand in the table."""
    return [entry for entry in entries if _belongs(entry, frame.views, frame.view)]


def ranked_sections(
    frame: TableFrame, phase: Phase | None, entries: Iterable[Entry]
) -> list[Section]:
    """Entries of a table, with the scores that are told, in sections that are ranked each for
    itself. Whatever shows a rank takes it from here, so that there is one. No query."""
    sections = [
        _section(origin, rows, _told(origin, phase, frame.columns), frame.sort, frame.ranking)
        for origin, rows in _by_origin(entries).items()
    ]
    return sorted(sections, key=_section_order)


def _kept(sections: Iterable[Section], wanted: RowFilter) -> Iterator[Section]:
    """The sections with the rows that are wanted; none that is empty."""
    for section in sections:
        groups = [
            RowGroup(group.heading, tuple(row for row in group.rows if wanted.keeps(row.entry)))
            for group in section.groups
        ]
        filled = tuple(group for group in groups if group.rows)
        if filled:
            yield replace(section, groups=filled)


def _belongs(entry: Entry, views: Iterable[View], chosen: View | None) -> bool:
    """Whether an entry stands in the table. What was graded here has all figures and stands in all;
    any other row stands in the view that has all of its figures, else in the benchmark's own."""
    if entry.kind == Entry.Kind.GRADED:
        return True
    homes = [view.key for view in views if _is_part(entry, view)]
    return chosen.key in homes if chosen else not homes


def _is_part(entry: Entry, view: View) -> bool:
    return bool(entry.scores) and entry.scores.keys() <= {column.key for column in view.columns}


Origin = tuple[str, str]


def _by_origin(entries: Iterable[Entry]) -> dict[Origin, list[Entry]]:
    origins: dict[Origin, list[Entry]] = {}
    for entry in entries:
        graded = entry.kind == Entry.Kind.GRADED
        origin = (entry.kind, entry.signature if graded else entry.provenance)
        origins.setdefault(origin, []).append(entry)
    return origins


def _told(
    origin: Origin, phase: Phase | None, columns: tuple[BoardColumn, ...]
) -> tuple[BoardColumn, ...]:
    """The columns with as many decimals as rows of this origin have; a source tells all of its."""
    return shown_columns(phase, columns) if phase and origin[0] == Entry.Kind.GRADED else columns


def _section_order(section: Section) -> int:
    return [Entry.Kind.GRADED, Entry.Kind.HUMAN, Entry.Kind.REPORTED].index(
        Entry.Kind(section.kind)
    )


def _section(
    origin: Origin,
    entries: Sequence[Entry],
    columns: Sequence[BoardColumn],
    sort: Sort,
    ranking: Sequence[BoardColumn],
) -> Section:
    kind, key = origin
    contests = contests_of(entries, columns, ranking)
    rows = rows_of(entries, columns, contests)
    if sort.key:
        rows = _sorted(rows, columns, sort)
    elif kind == Entry.Kind.GRADED:
        rows = best_first(rows, columns)
    ranked = [contests[column.key] for column in columns if column.is_rank]
    return Section(
        kind,
        key,
        entries[0].provenance_url,
        tuple(_groups(rows, sort)),
        is_compared=bool(ranked) and all(contest.is_compared for contest in ranked),
    )


def _groups(rows: Iterable[Row], sort: Sort) -> list[RowGroup]:
    """What is pinned first, so that nothing takes it out of sight; what is disqualified last."""
    apart: dict[str, list[Row]] = {PINNED: [], "": [], DISQUALIFIED: []}
    for row in rows:
        place = DISQUALIFIED if row.is_disqualified else PINNED if row.entry.is_pinned else ""
        apart[place].append(row)
    heading = OTHERS if apart[PINNED] else ""
    middle = [RowGroup(heading, tuple(apart[""]))] if sort.key else _grouped(apart[""])
    ends = {name: [RowGroup(name, tuple(apart[name]))] for name in (PINNED, DISQUALIFIED)}
    groups = [*ends[PINNED], *middle, *ends[DISQUALIFIED]]
    return [group for group in groups if group.rows]


def best_first(rows: Iterable[Row], columns: Sequence[BoardColumn]) -> list[Row]:
    """By the rank that decides, and by its figure where several share a rank. On the page reported
    rows keep the order of their source instead."""
    rank = next(column for column in columns if column.decides)
    sign = -1 if rank.higher_is_better else 1
    return sorted(
        rows,
        key=lambda row: (
            row.ranks[rank.key] or math.inf,
            sign * (row.values[rank.basis] or 0.0),
            _name(row),
        ),
    )


def _grouped(rows: Iterable[Row]) -> list[RowGroup]:
    """By the kind of system, in the order of the categories; inside, as they were entered."""
    groups: dict[str, list[Row]] = {category: [] for category in Category.values}
    for row in rows:
        groups[row.entry.category].append(row)
    return [
        RowGroup(CATEGORY_HEADINGS[Category(category)], tuple(members))
        for category, members in groups.items()
        if members
    ]


def _sorted(rows: Sequence[Row], columns: Sequence[BoardColumn], sort: Sort) -> list[Row]:
    """By the column asked for; rows without a value come last in either direction."""
    if sort.key == "name":
        return sorted(rows, key=_name, reverse=sort.is_reversed)
    valued = [(_sort_value(row, columns, sort), row) for row in sorted(rows, key=_name)]
    present = [(value, row) for value, row in valued if value is not None]
    present.sort(key=itemgetter(0), reverse=sort.is_reversed)
    return [row for _, row in present] + [row for value, row in valued if value is None]


def _name(row: Row) -> str:
    return row.entry.name.casefold()


def _sort_value(row: Row, columns: Sequence[BoardColumn], sort: Sort) -> float | None:
    """A number that is small for what comes first."""
    if sort.key == "size":
        return parameters(row.entry.size)
    column = next(column for column in columns if column.key == sort.key)
    value = row.values[column.basis]
    return None if value is None else -value if column.higher_is_better else value


@dataclass(frozen=True)
class Tab:
    """A table of the board and the query that leads to it."""

    title: str
    query: str
    is_current: bool


def part_for(user: Viewer, phase: Phase | None, part: str) -> str:
    """The part if this user may choose one; empty for what is told now."""
    may_choose = phase is not None and phase.has_parts and is_organiser(user)
    return part if may_choose and part in PARTS else ""


def asked_leaderboard(
    user: Viewer,
    board: Board,
    windows: Sequence[PhaseWindow],
    asked: Mapping[str, str],
    wanted: RowFilter,
) -> Leaderboard:
    """The table that a reader asks for by `phase`, `sort`, `view` and `part`, each of which may be
    empty; `windows` are the phases of the board. One query."""
    phase = choose_phase(windows, asked["phase"])
    return leaderboard(
        board,
        phase,
        asked["sort"],
        view=asked["view"],
        part=part_for(user, phase, asked["part"]),
        wanted=wanted,
    )


@dataclass(frozen=True)
class RankedScore:
    """A row's rank and score in the column that decides; None where it has none."""

    rank: int | None
    score: float | None


def ranked_scores(board: Board, phase: Phase) -> dict[int, RankedScore]:
    """The graded rows of a phase by the entry's key: their ranks on the board by the figure that
    decides, and their scores. One query."""
    table = leaderboard(board, phase)
    column = next(each for each in table.columns if each.decides)
    return {
        row.entry.pk: RankedScore(row.ranks[column.key], row.values[column.basis])
        for section in table.sections
        if section.kind == Entry.Kind.GRADED
        for row in section.rows
    }


@dataclass(frozen=True)
class StampedBoard:
    """A board with its phases, oldest first, and their releases and datasets."""

    board: Board
    windows: Sequence[PhaseWindow]

    def etag(self, user: Viewer, asked: Mapping[str, Any]) -> str:
        """Of the leaderboard for this reader: rows are counted by the board's revision, all else
        is here, the phases' windows at this moment too."""
        parts = [
            [
                _fields(each.phase),
                _fields(each.phase.release),
                _fields(each.phase.release.dataset),
                each.window,
                are_scores_due(each.phase),
            ]
            for each in self.windows
        ]
        return etag_of(_fields(self.board), parts, dict(asked), is_organiser(user))

    def stamp(self, user: Viewer, asked: Mapping[str, Any]) -> str:
        """Under which the table may be kept for readers like this one; empty where something is
        shown that no stamp counts."""
        is_counted = bool(self.windows) and not self.has_variants
        return self.etag(user, asked) if is_counted else ""

    @property
    def has_variants(self) -> bool:
        """Whether rows of other boards may be shown beside, which no stamp of this one counts."""
        datasets: list[Dataset] = [each.phase.release.dataset for each in self.windows]
        return any(dataset.derived_from_id is not None for dataset in datasets)


def _phases_of(boards: BoardQuerySet) -> QuerySet[Phase]:
    phases = Phase.objects.filter(board__slug=Parameter("slug"), board__in=boards)
    return with_releases(phases).select_related("board", "release__dataset")


# Asked for with every leaderboard, also where it has not changed.
_ALL_PHASES = Prepared(lambda: _phases_of(Board.objects.all()))
_PUBLISHED_PHASES = Prepared(lambda: _phases_of(Board.objects.published()))


def stamped_board(user: Viewer, slug: str) -> StampedBoard:
    """404 unless the user may see the board. One query; two for a board without phases."""
    phases = _ALL_PHASES if is_organiser(user) else _PUBLISHED_PHASES
    found = phases.rows(slug=slug)
    if not found:
        return StampedBoard(board_for(user, slug), [])
    board = found[0].board
    return StampedBoard(board, windows_of(board, found))


def _fields(row: Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
