"""The leaderboard: entries in sections, ranked, with the best of each column marked.

Every section is ranked on its own: the rows graded here under one signature, and those of each
publication. Figures of different sections are never compared. Pinned rows come first and keep their
rank; disqualified rows come last, without a rank. Filters apply after ranking.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from django.core.cache import caches
from django.db.models import F, Model, Q, QuerySet
from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.datasets.models import Dataset
from portal.web.queries import Parameter, Prepared
from portal.web.requests import etag_of, one_at_a_time
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

from .columns import (
    GROUPED,
    NAME,
    SIZE,
    BoardColumn,
    Sort,
    TableFrame,
    board_columns,
    main_columns,
    table_frame,
)
from .disclosure import (
    PARTS,
    entry_as_shown,
    hides_gold,
    is_withheld,
    shown_columns,
    shown_part,
)
from .filters import ALL_ROWS, RowFilter, parameters
from .rows import (
    CATEGORY_HEADINGS,
    Row,
    RowGroup,
    Section,
    best_first,
    name_key,
    ranked_rows,
    token_annotations,
)

PINNED, OTHERS, DISQUALIFIED = "Pinned", "Others", "Disqualified"


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
    """The part that graded rows count, for a phase in parts."""
    has_graded: bool = False
    """Whether anything was graded, shown or not."""
    is_withheld: bool = False
    """Whether the phase hides graded rows, because it rounds scores and this table shows counts."""
    unfiltered: tuple[Section, ...] = ()
    """The sections with all rows."""

    @property
    def total(self) -> int:
        """Number of rows before filtering."""
        return sum(section.size for section in self.unfiltered)

    @property
    def shown(self) -> int:
        return sum(section.size for section in self.sections)


def leaderboard(
    board: Board,
    phase: Phase | None,
    sort: str = "",
    *,
    view: str = "",
    part: str = "",
    wanted: RowFilter = ALL_ROWS,
    stamp: str = "",
) -> Leaderboard:
    """Return the board with the graded entries of one phase and all reported rows. One query, or
    none if the process has kept the table.

    `view` and `sort` are those of `table_frame`; `wanted` filters the rows. `part` is for
    organisers: a part that is not public now. `stamp` is the cache key of the unfiltered table;
    without it nothing is kept.
    """
    if not stamp:
        table = _whole_table(board, phase, sort, view=view, part=part)
        return replace(table, sections=tuple(_kept(table.unfiltered, wanted)))
    table = caches["tables"].get(stamp)
    if table is None:
        with one_at_a_time(f"table:{stamp}"):
            table = caches["tables"].get(stamp)
            if table is None:
                table = _whole_table(board, phase, sort, view=view, part=part)
                caches["tables"].set(stamp, table)
    return replace(table, sections=tuple(_kept(table.unfiltered, wanted)))


def _whole_table(
    board: Board, phase: Phase | None, sort: str, *, view: str, part: str
) -> Leaderboard:
    """Return the table with all rows, without the filtered ones. One query."""
    frame = table_frame(board, phase, sort, view=view)
    entries = (
        Entry.objects.filter(Q(phase=phase) | Q(phase=None), board=board)
        .annotate(
            submission_id=F("grading__submission_id"),
            manifest_id=F("grading__submission__manifest__id"),
            team_name=F("grading__submission__team__name"),
            team_slug=F("grading__submission__team__slug"),
            **token_annotations(),
        )
        .order_by("id")
    )
    now = timezone.now()
    entries_shown = (entry_as_shown(entry, phase, now, part=part) for entry in entries)
    shown = rows_of_table(frame, entries_shown)
    has_graded = any(entry.kind == Entry.Kind.GRADED for entry in shown)
    withheld = phase is not None and is_withheld(phase, frame.view)
    if withheld:
        shown = [entry for entry in shown if not entry.is_graded]
    return Leaderboard(
        board=board,
        phase=phase,
        views=frame.views,
        view=frame.view,
        columns=frame.columns,
        sort=frame.sort,
        sections=(),
        unfiltered=tuple(ranked_sections(frame, phase, shown)),
        part=(part or shown_part(phase, now)) if phase and phase.has_parts else "",
        has_graded=has_graded,
        is_withheld=withheld,
    )


def rows_of_table(frame: TableFrame, entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries that belong in the table."""
    return [entry for entry in entries if _belongs(entry, frame.views, frame.view)]


def ranked_sections(
    frame: TableFrame, phase: Phase | None, entries: Iterable[Entry]
) -> list[Section]:
    """Split the entries of a table into sections, each ranked on its own. All ranks shown anywhere
    come from here. Makes no query."""
    sections = [
        _section(
            origin,
            rows,
            _shown_columns(origin, phase, frame.columns),
            frame.sort,
            _required(origin, phase, frame.ranking),
        )
        for origin, rows in _by_origin(entries).items()
    ]
    return sorted(sections, key=_section_order)


def _kept(sections: Iterable[Section], wanted: RowFilter) -> Iterator[Section]:
    """Return the non-empty sections with the filtered rows."""
    if not wanted.is_set:
        yield from sections
        return
    for section in sections:
        groups = [RowGroup(group.heading, wanted.kept(group.rows)) for group in section.groups]
        filled = tuple(group for group in groups if group.rows)
        if filled:
            yield replace(section, groups=filled)


def rows_between(sections: Iterable[Section], first: int, end: int) -> list[Section]:
    """Return the sections with the rows from place `first` up to `end` of all of them."""
    cut, place = [], 0
    for section in sections:
        groups = []
        for group in section.groups:
            rows = group.rows[max(first - place, 0) : max(end - place, 0)]
            groups += [RowGroup(group.heading, rows)] if rows else []
            place += len(group.rows)
        if groups:
            cut.append(replace(section, groups=tuple(groups)))
    return cut


def _belongs(entry: Entry, views: Iterable[View], chosen: View | None) -> bool:
    """Whether an entry belongs in the table. Graded rows have all figures and belong in every
    table; other rows belong in the view that has all of their figures, or else in the benchmark's
    own table."""
    if entry.is_graded:
        return True
    homes = [view.key for view in views if _is_part(entry, view)]
    return chosen.key in homes if chosen else not homes


def _is_part(entry: Entry, view: View) -> bool:
    if view.needs and view.needs not in entry.scores:
        return False
    known = {key for column in view.columns for key in (column.key, column.reported)}
    return bool(entry.scores) and entry.scores.keys() <= known


Origin = tuple[str, str]


def _by_origin(entries: Iterable[Entry]) -> dict[Origin, list[Entry]]:
    origins: dict[Origin, list[Entry]] = {}
    for entry in entries:
        graded = entry.kind == Entry.Kind.GRADED
        origin = (entry.kind, entry.signature if graded else entry.provenance)
        origins.setdefault(origin, []).append(entry)
    return origins


def _shown_columns(
    origin: Origin, phase: Phase | None, columns: tuple[BoardColumn, ...]
) -> tuple[BoardColumn, ...]:
    """Return the columns with the decimals that rows of this source have. Reported rows keep all of
    theirs."""
    return shown_columns(phase, columns) if phase and origin[0] == Entry.Kind.GRADED else columns


def _required(
    origin: Origin, phase: Phase | None, columns: Sequence[BoardColumn]
) -> list[BoardColumn]:
    """Return the ranks in which rows of this source need a value to take part. On hidden gold only
    the main one counts, because other figures may be withheld."""
    is_coarse = phase is not None and origin[0] == Entry.Kind.GRADED and hides_gold(phase)
    return [each for each in columns if each.decides or (each.is_rank and not is_coarse)]


def _section_order(section: Section) -> int:
    return [Entry.Kind.GRADED, Entry.Kind.HUMAN, Entry.Kind.REPORTED].index(
        Entry.Kind(section.kind)
    )


def _section(
    origin: Origin,
    entries: Sequence[Entry],
    columns: Sequence[BoardColumn],
    sort: Sort,
    required: Sequence[BoardColumn],
) -> Section:
    kind, key = origin
    rows = ranked_rows(entries, columns, required)
    contests = rows[0].contests
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
    """Put pinned rows first, so that they are always visible, and disqualified rows last."""
    apart: dict[str, list[Row]] = {PINNED: [], "": [], DISQUALIFIED: []}
    for row in rows:
        place = DISQUALIFIED if row.is_disqualified else PINNED if row.entry.is_pinned else ""
        apart[place].append(row)
    heading = OTHERS if apart[PINNED] else ""
    middle = [RowGroup(heading, tuple(apart[""]))] if sort.key else _grouped(apart[""])
    ends = {name: [RowGroup(name, tuple(apart[name]))] for name in (PINNED, DISQUALIFIED)}
    groups = [*ends[PINNED], *middle, *ends[DISQUALIFIED]]
    return [group for group in groups if group.rows]


def _grouped(rows: Iterable[Row]) -> list[RowGroup]:
    """Group by kind of system, in the order of the categories and of entry."""
    groups: dict[str, list[Row]] = {category: [] for category in Category.values}
    for row in rows:
        groups[row.entry.category].append(row)
    return [
        RowGroup(CATEGORY_HEADINGS[Category(category)], tuple(members))
        for category, members in groups.items()
        if members
    ]


def _sorted(rows: Sequence[Row], columns: Sequence[BoardColumn], sort: Sort) -> list[Row]:
    """Sort by the requested column. Rows without a value come last in either direction."""
    if sort.key == "name":
        return sorted(rows, key=name_key, reverse=sort.is_reversed)
    deciding = next(column.key for column in columns if column.decides)
    if sort.key == deciding and not sort.is_reversed:
        return best_first(rows, columns)
    valued = [(_sort_value(row, columns, sort), row) for row in sorted(rows, key=name_key)]
    present = [(value, row) for value, row in valued if value is not None]
    present.sort(key=itemgetter(0), reverse=sort.is_reversed)
    return [row for _, row in present] + [row for value, row in valued if value is None]


def _sort_value(row: Row, columns: Sequence[BoardColumn], sort: Sort) -> float | None:
    """Return a sort key: a smaller number comes first."""
    if sort.key == "size":
        return parameters(row.entry.size)
    column = next(column for column in columns if column.key == sort.key)
    value = row.values[column.basis]
    if value is None and column.is_rank:
        # The value is withheld.
        return row.ranks[column.key]
    return None if value is None else -value if column.higher_is_better else value


def filled_views(table: Leaderboard) -> list[View]:
    """Return the views in which the graded rows have any figure; all views if there are no such
    rows."""
    graded = [section for section in table.unfiltered if section.kind == Entry.Kind.GRADED]
    if not graded:
        return list(table.views)
    present = set[str]().union(*(section.present for section in graded))
    return [
        view
        for view in table.views
        if present & {column.key for column in view.columns}
        and not (table.phase and is_withheld(table.phase, view))
    ]


@dataclass(frozen=True)
class Tab:
    """A table of the board and its query string."""

    title: str
    query: str
    is_current: bool


def part_for(user: Viewer, phase: Phase | None, part: str) -> str:
    """Return the part if this user may choose one, or empty for the part that is public now."""
    may_choose = phase is not None and phase.has_parts and is_organiser(user)
    return part if may_choose and part in PARTS else ""


def kept_leaderboard(
    user: Viewer,
    stamped: "StampedBoard",
    asked: Mapping[str, str],
    wanted: RowFilter = ALL_ROWS,
) -> Leaderboard:
    """Return the table that a reader requests by `phase`, `sort`, `view` and `part`, each of which
    may be empty. One query, or none if the process has kept the table."""
    phase = choose_phase(stamped.windows, asked["phase"])
    frame = table_frame(stamped.board, phase, asked["sort"], view=asked["view"])
    part = part_for(user, phase, asked["part"])
    view = frame.view.key if frame.view else ""
    table = [phase and phase.slug, frame.sort.key, frame.sort.is_reversed, view, part]
    return leaderboard(
        stamped.board,
        phase,
        asked["sort"],
        view=view,
        part=part,
        wanted=wanted,
        stamp=stamped.etag(user, {"table": table}),
    )


# Views that only the page has: files and the API return the whole table for them.
_OF_THE_PAGE = ("headline", "scores", "robustness")


_PARTS = f"one of {', '.join(sorted(PARTS))}"


def unknown_choices(
    table: Leaderboard, windows: Sequence[PhaseWindow], asked: Mapping[str, str]
) -> dict[str, list[str]]:
    """Errors by parameter for a phase, view, order or part that the board does not have, or not for
    this user. Pages ignore them; a file does not show that it is another one than requested."""
    views = {view.key for view in table.views} | set(_OF_THE_PAGE)
    columns = [*main_columns(table.board, table.phase)]
    columns += [column for view in table.views for column in view.columns]
    keys = {column.key for column in [*table.columns, *board_columns(columns)]}
    known = {
        "phase": {window.phase.slug for window in windows},
        "view": views,
        "sort": {NAME, SIZE, GROUPED} | keys,
    }
    asked = {**asked, "sort": asked["sort"].removeprefix("-")}
    return unknown_part(asked["part"], table.part) | unknown_values(known, asked)


def unknown_part(asked: str, shown: str) -> dict[str, list[str]]:
    is_other = asked and asked != shown
    return {"part": [f"Organisers choose {_PARTS} in a phase with parts."]} if is_other else {}


def unknown_values(
    known: Mapping[str, Collection[str]], asked: Mapping[str, str]
) -> dict[str, list[str]]:
    """Errors by parameter for values that are not empty and not known."""
    return {
        name: [f"Unknown value. Known values: {', '.join(sorted(values)) or 'none'}."]
        for name, values in known.items()
        if asked[name] and asked[name] not in values
    }


@dataclass(frozen=True)
class RankedScore:
    """A row's rank and score in the deciding column; None if it has none."""

    rank: int | None
    score: float | None
    is_compared: bool
    """Whether the rank is by significance. If not, it goes by the score only."""


def ranked_scores(board: Board, phase: Phase) -> dict[int, RankedScore]:
    """Return the board ranks and scores of a phase's graded rows by the main score, by entry
    key. One query."""
    table = leaderboard(board, phase)
    column = next(candidate for candidate in table.columns if candidate.decides)
    return {
        row.entry.pk: RankedScore(
            row.ranks[column.key], row.values[column.basis], row.contests[column.key].is_compared
        )
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
        """Return the ETag of the leaderboard for this reader. The board's revision covers its rows;
        the stamp covers everything else, including which phases are open now."""
        parts = [
            [
                _fields(window.phase),
                _fields(window.phase.release),
                _fields(window.phase.release.dataset),
                window.window,
                are_scores_due(window.phase),
            ]
            for window in self.windows
        ]
        return etag_of(_fields(self.board), parts, dict(asked), is_organiser(user))

    def stamp(self, user: Viewer, asked: Mapping[str, Any]) -> str:
        """Return a cache key of the table for readers with the same rights; empty if it shows
        something that no key covers."""
        is_counted = bool(self.windows) and not self.has_variants
        return self.etag(user, asked) if is_counted else ""

    @property
    def has_variants(self) -> bool:
        """Whether rows of other boards may be shown too, which this board's revision does not
        cover."""
        datasets: list[Dataset] = [window.phase.release.dataset for window in self.windows]
        return any(dataset.derived_from_id is not None for dataset in datasets)


def _phases_of(boards: BoardQuerySet) -> QuerySet[Phase]:
    phases = Phase.objects.filter(board__slug=Parameter("slug"), board__in=boards)
    return with_releases(phases).select_related("board", "release__dataset")


# Runs on every request for a leaderboard, even if nothing has changed.
_ALL_PHASES = Prepared(lambda: _phases_of(Board.objects.all()))
_PUBLISHED_PHASES = Prepared(lambda: _phases_of(Board.objects.published()))


def stamped_board(user: Viewer, slug: str) -> StampedBoard:
    """Return the board. Raises Http404 unless the user may see it. One query; two for a board
    without phases."""
    phases = _ALL_PHASES if is_organiser(user) else _PUBLISHED_PHASES
    rows = phases.rows(slug=slug)
    if not rows:
        return StampedBoard(board_for(user, slug), [])
    board = rows[0].board
    return StampedBoard(board, windows_of(board, rows))


def _fields(row: Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
