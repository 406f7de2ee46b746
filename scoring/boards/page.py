"""Everything that the page of a board shows around its leaderboard.

The page of a stress variant also shows what each system loses against the normal capture. Figures
are compared for the same system, the same pages and gold, and the same signature only.
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
    """One figure of a system: the difference to the normal capture, and the ratio, in words.

    `ratio` is empty where the normal capture has 0, or where the figure is no rate.
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
    """`simulation` and the release it is compared with, in words; the rows as on the board."""

    simulation: str
    normal: str
    columns: tuple[BoardColumn, ...]
    rows: tuple[RelativeRow, ...]


def relative_results(user: Viewer, table: Leaderboard) -> Relative | None:
    """None unless the phase's release is of a variant and a system of the board has a result on
    the original, too. One query for a variant, none for other datasets."""
    if table.phase is None or table.phase.release.dataset.derived_from_id is None:
        return None
    normal = _normal_entries(user, table.phase)
    told = shown_columns(table.phase, table.columns)
    columns = tuple(column for column in told if not column.is_rank)
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
    """The newest result of each system on the release that this one was carried over from.

    Its release has the same items with the same gold, whatever its images are.
    """
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
    """A system as a model card names it, under one signature."""
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


def regraded_at(phase: Phase) -> datetime | None:
    """When the results of the phase were last graded again. One query."""
    done = RegradedPhase.objects.filter(phase=phase, regrade__state=Regrade.State.DONE)
    ends = done.order_by("-regrade__finished_at").values_list("regrade__finished_at", flat=True)
    return ends.first()


# With more columns a table is as wide as they need instead of as wide as the page.
WIDE_FROM = 9


@dataclass(frozen=True)
class Rules:
    """How the graded rows came about: enough to do it again, and to cite it."""

    phase: Phase
    signature: str
    options: Mapping[str, Any]
    words: Sequence[str]
    """What the options do not say by themselves."""
    release: Release
    shows_hash: bool
    """Of hidden gold not even the hash is told."""
    links_release: bool
    tables: Sequence[RuleTable]


@dataclass(frozen=True)
class LeaderboardPage:
    """What stands around the table is here at once; the table, and what hangs on its rows, is made
    when it is first looked at, which a page that was kept never does."""

    user: Viewer
    board: Board
    frame: TableFrame
    phase: Phase | None
    phases: Sequence[PhaseWindow]
    part: str
    """That an organiser asked for; empty for what is told now."""
    wanted: RowFilter
    sort: str
    stamp: str
    """Of all that the table's part of the page depends on; empty where nothing is kept."""

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
        """The board's phases; empty where there is only one."""
        if len(self.phases) < 2:
            return []
        kept = {"view": self.frame.view.key} if self.frame.view else {}
        return [
            Tab(
                each.phase.title,
                _address({"phase": each.phase.slug, **kept, **self.wanted.query}),
                each.phase == self.phase,
            )
            for each in self.phases
        ]

    @property
    def tabs(self) -> Sequence[Tab]:
        """The board's tables; empty where there is only one."""
        if not self.frame.views:
            return []
        kept, current = {**self._phase_query, **self.wanted.query}, self.frame.view
        return [Tab("Overall", _address(kept), current is None)] + [
            Tab(view.title, _address({**kept, "view": view.key}), view == current)
            for view in self.frame.views
        ]

    @property
    def parts(self) -> Sequence[Tab]:
        """For organisers: the parts of the phase."""
        if self.phase is None or not self.phase.has_parts or not is_organiser(self.user):
            return []
        return [
            Tab(title, _address({**self._query, "part": part}), part == self.table.part)
            for part, title in PARTS.items()
        ]

    @property
    def part_words(self) -> str:
        """What the graded rows count, where the phase is in parts."""
        return part_words(self.phase, self.table.part) if self.phase else ""

    @cached_property
    def rules(self) -> Rules | None:
        return _rules(self.user, self.phase) if self.phase else None

    @property
    def grouped_query(self) -> str:
        """Leads back to the table that is grouped by the kind of system."""
        kept = {"sort": GROUPED} if self.board.default_sort else {}
        return _address({**self._query, **kept})

    @property
    def unfiltered_query(self) -> str:
        """Leads to all rows, in the same order."""
        kept = {name: self._query[name] for name in self._query if name not in self.wanted.query}
        return _address({**kept, **self._sort_query})

    @property
    def hidden_fields(self) -> Sequence[tuple[str, str]]:
        """What the form of the filters keeps of the address."""
        shown = {**self._phase_query, **self._view_query, **self._sort_query}
        return list((shown | ({"part": self.part} if self.part else {})).items())

    @cached_property
    def relative(self) -> Relative | None:
        """On a stress variant: what the systems lose against the normal capture."""
        return relative_results(self.user, self.table)

    @cached_property
    def regraded_at(self) -> datetime | None:
        """When the results of the phase were last graded again."""
        return regraded_at(self.phase) if self.phase else None

    @property
    def has_intervals(self) -> bool:
        return any(section.has_intervals for section in self.table.sections)

    @property
    def file_query(self) -> str:
        """Of the table as CSV."""
        return _address({**self._query, **self._sort_query})

    @property
    def link_query(self) -> str:
        """Leads to this table for good: with its phase, though a newer one may come, and its order,
        though the board may get another."""
        named = {"phase": self.phase.slug} if self.phase else {}
        return _address({**named, **self._query, "sort": self._sort_query.get("sort", GROUPED)})

    @cached_property
    def example(self) -> ExampleFile | None:
        """What a sample board can be tried with."""
        return example_file(self.board)

    @cached_property
    def item_count(self) -> int:
        """What the phase grades: the items of its release, or of its split alone. One query for a
        split."""
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
        """All but the order."""
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
    """Three queries when it is shown, four on a sample board and for a split, however many entries
    and phases there are; one less where the board's phases are given, two where its table was kept.

    An unknown phase gives the newest, an unknown view the benchmark's own table. Organisers may ask
    for a part that is not told now.
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


def _address(query: Mapping[str, Any]) -> str:
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
