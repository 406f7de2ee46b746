"""The page of a board: its leaderboard, tabs, rules and links.

The page of a stress variant also shows how much each system loses against the normal capture.
Figures are compared only for the same system, pages, gold and signature.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.utils import timezone

from portal.accounts.access import is_organiser
from portal.datasets.access import may_see_all_gold
from portal.datasets.models import Release
from scoring.access import Viewer, may_open_release, visible_boards
from scoring.benchmarks import RuleTable
from scoring.leaderboard.columns import (
    GROUPED,
    BoardColumn,
    Head,
    HeadGroup,
    TableFrame,
    head_groups,
    heads,
    table_frame,
)
from scoring.leaderboard.disclosure import PARTS, entry_as_shown, part_words, shown_columns
from scoring.leaderboard.figures import show
from scoring.leaderboard.filters import ALL_ROWS, RowFilter
from scoring.leaderboard.rows import Row
from scoring.leaderboard.selectors import Leaderboard, Tab, leaderboard, part_for
from scoring.models import Board, Entry, Phase, Regrade, RegradedPhase, Submission
from scoring.models.boards import PhaseWindow, choose_phase, phase_windows

from .selectors import ExampleFile, example_file, is_open_to

System = tuple[str, str, str]


@dataclass(frozen=True)
class Loss:
    """One figure of a system: its difference to the normal capture and their ratio, as texts.

    `ratio` is empty if the figure of the normal capture is 0, or if the figure is a count.
    """

    difference: str
    ratio: str


@dataclass(frozen=True)
class RelativeRow:
    entry: Entry
    normal: Entry
    losses: tuple[Loss, ...]


@dataclass(frozen=True)
class Relative:
    """The comparison of `simulation` with the release named by `normal`; rows as on the board."""

    simulation: str
    normal: str
    columns: tuple[BoardColumn, ...]
    rows: tuple[RelativeRow, ...]


def relative_results(user: Viewer, table: Leaderboard) -> Relative | None:
    """The losses on a stress variant; None for other datasets, and if no system of the board has a
    result on the original. One query for a variant, none for other datasets."""
    if table.phase is None or table.phase.release.dataset.derived_from_id is None:
        return None
    normal = _normal_entries(user, table.phase)
    shown = shown_columns(table.phase, table.columns)
    columns = tuple(column for column in shown if not column.is_rank)
    rows = [
        RelativeRow(row.entry, known, _losses(row, known, columns))
        for section in table.sections
        if section.kind == Entry.Kind.GRADED
        for row in section.rows
        if not row.is_disqualified and (known := normal.get(_system(row.entry)))
    ]
    if not rows:
        return None
    phase = rows[0].normal.phase
    assert phase is not None
    return Relative(
        simulation=table.phase.release.dataset.simulation,
        normal=f"{phase.release.dataset.title} {phase.release.version}",
        columns=columns,
        rows=tuple(rows),
    )


def _normal_entries(user: Viewer, phase: Phase) -> dict[System, Entry]:
    """The newest result of each system on a release of the original dataset with the same items
    and gold."""
    release = phase.release
    entries = Entry.objects.filter(
        kind=Entry.Kind.GRADED,
        board__in=visible_boards(user),
        phase__release__in=Release.objects.with_gold_of(release).filter(
            dataset=release.dataset.derived_from_id
        ),
    )
    entries = entries.exclude(verdict=Submission.Verdict.DISQUALIFIED)
    related = entries.select_related("phase__release__dataset").order_by("id")
    now = timezone.now()
    return {_system(entry): entry_as_shown(entry, entry.phase, now) for entry in related}


def _system(entry: Entry) -> System:
    """The key of a system: its name and organisation in the model card, and the signature."""
    return entry.name.casefold(), entry.organisation.casefold(), entry.signature


def _losses(row: Row, normal: Entry, columns: Sequence[BoardColumn]) -> tuple[Loss, ...]:
    return tuple(
        _loss(column, row.values[column.basis], normal.scores.get(column.basis))
        for column in columns
    )


def _loss(column: BoardColumn, value: float | None, normal: float | None) -> Loss:
    if value is None or normal is None:
        return Loss(show(None), "")
    text = show(abs(value - normal), unit=column.unit, decimals=column.decimals)
    sign = "" if value == normal else "+" if value > normal else "−"
    ratio = show(value / normal, unit="", decimals=2) if column.unit and normal else ""
    return Loss(f"{sign}{text}", ratio)


# A table with more columns may be wider than the page.
WIDE_FROM = 9


@dataclass(frozen=True)
class Rules:
    """The settings behind the graded rows, enough to reproduce and cite them."""

    phase: Phase
    signature: str
    options: Mapping[str, Any]
    words: Sequence[str]
    """Explanations of the options."""
    release: Release
    shows_hash: bool
    """False if the gold is hidden from the reader: then its hash is hidden too."""
    links_release: bool
    tables: Sequence[RuleTable]


@dataclass(frozen=True)
class LeaderboardPage:
    """The content around the table is computed at once. The table and everything that depends on
    its rows are computed on first use, which a cached page never needs."""

    user: Viewer
    board: Board
    frame: TableFrame
    phase: Phase | None
    phases: Sequence[PhaseWindow]
    part: str
    """The part that an organiser asked for; empty: the part that is shown now."""
    wanted: RowFilter
    sort: str
    stamp: str
    """Cache key of the table's part of the page; empty: it is not cached."""

    @cached_property
    def table(self) -> Leaderboard:
        return leaderboard(
            self.board,
            self.phase,
            self.sort,
            view=self.frame.view.key if self.frame.view else "",
            part=self.part,
            wanted=self.wanted,
        )

    @property
    def benchmark(self) -> str:
        return self.board.spec.title

    @cached_property
    def groups(self) -> Sequence[HeadGroup]:
        return head_groups(self.frame.columns)

    @cached_property
    def heads(self) -> Sequence[Head]:
        return heads(self.frame.columns, self.frame.sort, self._query)

    @property
    def phase_tabs(self) -> Sequence[Tab]:
        """The board's phases; empty if there is only one."""
        if len(self.phases) < 2:
            return []
        kept = {"view": self.frame.view.key} if self.frame.view else {}
        return [
            Tab(
                each.phase.title,
                _query_string({"phase": each.phase.slug, **kept, **self.wanted.query}),
                each.phase == self.phase,
            )
            for each in self.phases
        ]

    @property
    def tabs(self) -> Sequence[Tab]:
        """The board's tables; empty if there is only one."""
        if not self.frame.views:
            return []
        kept, current = {**self._phase_query, **self.wanted.query}, self.frame.view
        return [Tab("Overall", _query_string(kept), current is None)] + [
            Tab(view.title, _query_string({**kept, "view": view.key}), view == current)
            for view in self.frame.views
        ]

    @property
    def parts(self) -> Sequence[Tab]:
        """For organisers: the parts of the phase."""
        if self.phase is None or not self.phase.has_parts or not is_organiser(self.user):
            return []
        return [
            Tab(title, _query_string({**self._query, "part": part}), part == self.table.part)
            for part, title in PARTS.items()
        ]

    @property
    def part_words(self) -> str:
        """Which items the graded rows count, for a phase in parts."""
        return part_words(self.phase, self.table.part) if self.phase else ""

    @cached_property
    def rules(self) -> Rules | None:
        return _rules(self.user, self.phase) if self.phase else None

    @property
    def grouped_query(self) -> str:
        """The query of the table grouped by the kind of system."""
        kept = {"sort": GROUPED} if self.board.default_sort else {}
        return _query_string({**self._query, **kept})

    @property
    def unfiltered_query(self) -> str:
        """The query of all rows in the same order."""
        kept = {name: self._query[name] for name in self._query if name not in self.wanted.query}
        return _query_string({**kept, **self._sort_query})

    @property
    def hidden_fields(self) -> Sequence[tuple[str, str]]:
        """Hidden fields of the filter form, which keep the rest of the query."""
        shown = {**self._phase_query, **self._view_query, **self._sort_query}
        return list((shown | ({"part": self.part} if self.part else {})).items())

    @cached_property
    def relative(self) -> Relative | None:
        """For a stress variant: the systems' losses against the normal capture."""
        return relative_results(self.user, self.table)

    @cached_property
    def regraded_at(self) -> datetime | None:
        """When the phase was last re-graded. One query."""
        if self.phase is None:
            return None
        done = RegradedPhase.objects.filter(phase=self.phase, regrade__state=Regrade.State.DONE)
        ends = done.order_by("-regrade__finished_at")
        return ends.values_list("regrade__finished_at", flat=True).first()

    @property
    def has_intervals(self) -> bool:
        return any(section.has_intervals for section in self.table.sections)

    @property
    def file_query(self) -> str:
        """The query of the table as CSV."""
        return _query_string({**self._query, **self._sort_query})

    @property
    def link_query(self) -> str:
        """The query of a permanent link: it names the phase and the order, whose defaults may
        change."""
        named = {"phase": self.phase.slug} if self.phase else {}
        return _query_string(
            {**named, **self._query, "sort": self._sort_query.get("sort", GROUPED)}
        )

    @cached_property
    def example(self) -> ExampleFile | None:
        """A file to try a sample board with."""
        return example_file(self.board)

    @cached_property
    def item_count(self) -> int:
        """The number of items that the phase grades. One query for a split."""
        assert self.phase is not None
        return self.phase.items.count() if self.phase.split else self.phase.release.item_count

    @property
    def may_submit(self) -> bool:
        return any(is_open_to(each, self.user) for each in self.phases)

    @property
    def may_manage(self) -> bool:
        return is_organiser(self.user)

    @property
    def is_wide(self) -> bool:
        return len(self.frame.columns) > WIDE_FROM

    @property
    def _phase_query(self) -> dict[str, str]:
        return {"phase": self.phase.slug} if self.phase and len(self.phases) > 1 else {}

    @property
    def _view_query(self) -> dict[str, str]:
        return {"view": self.frame.view.key} if self.frame.view else {}

    @property
    def _sort_query(self) -> dict[str, str]:
        sort = self.frame.sort
        return {"sort": f"{'-' if sort.is_reversed else ''}{sort.key}"} if sort.key else {}

    @property
    def _query(self) -> dict[str, Any]:
        """The query without the order."""
        part = {"part": self.part} if self.part else {}
        return {**self._phase_query, **self._view_query, **part, **self.wanted.query}


def leaderboard_page(
    user: Viewer,
    board: Board,
    *,
    phase: str,
    sort: str,
    view: str = "",
    part: str = "",
    wanted: RowFilter = ALL_ROWS,
    windows: Sequence[PhaseWindow] | None = None,
    stamp: str = "",
) -> LeaderboardPage:
    """The page, with three queries when it is rendered; four on a sample board or for a split. One
    less if `windows` is given, two less if its table is cached.

    An unknown phase gives the newest, an unknown view the benchmark's own table. Only organisers
    can ask for a part that is not shown now.
    """
    windows = phase_windows(board) if windows is None else windows
    shown = choose_phase(windows, phase)
    return LeaderboardPage(
        user=user,
        board=board,
        frame=table_frame(board, shown, sort, view=view),
        phase=shown,
        phases=windows,
        part=part_for(user, shown, part),
        wanted=wanted,
        sort=sort,
        stamp=stamp,
    )


def _query_string(query: Mapping[str, Any]) -> str:
    return urlencode(query, doseq=True)


def _rules(user: Viewer, phase: Phase) -> Rules:
    spec, release = phase.board.spec, phase.release
    options = spec.check_options(phase.options)
    return Rules(
        phase=phase,
        signature=spec.signature(options),
        options=options,
        words=spec.words(options),
        release=release,
        shows_hash=may_see_all_gold(user, release),
        links_release=may_open_release(user, release),
        tables=spec.rules,
    )
