"""Everything the page of a leaderboard shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from portal.accounts.access import is_organiser
from portal.datasets.access import may_see_all_gold
from portal.datasets.models import Dataset, Release
from scoring.access import Viewer
from scoring.benchmarks import RuleTable
from scoring.models import Board, Entry, Phase

from .boards import PhaseWindow, choose_phase, phase_windows
from .headings import Head, HeadGroup, head_groups, heads
from .leaderboards import Leaderboard, leaderboard
from .relative import Relative, relative_results

# With more columns a table is as wide as they need instead of as wide as the page.
WIDE_FROM = 9


@dataclass(frozen=True)
class Rules:
    """How the graded rows came about: enough to do it again, and to cite it."""

    phase: Phase
    signature: str
    options: Mapping[str, Any]
    release: Release
    shows_hash: bool
    """Of hidden gold not even the hash is told."""
    links_release: bool
    tables: Sequence[RuleTable]


@dataclass(frozen=True)
class Tab:
    """A table of the board and the query that leads to it."""

    title: str
    query: str
    is_current: bool


@dataclass(frozen=True)
class LeaderboardPage:
    board: Board
    benchmark: str
    table: Leaderboard
    groups: Sequence[HeadGroup]
    heads: Sequence[Head]
    phases: Sequence[PhaseWindow]
    tabs: Sequence[Tab]
    """The board's tables; empty where there is only one."""
    rules: Rules | None
    grouped_query: str
    """Leads back to the table that is grouped by the kind of system."""
    relative: Relative | None
    """On a stress variant: what the systems lose against the normal capture."""
    has_graded: bool
    may_submit: bool
    may_manage: bool

    @property
    def is_wide(self) -> bool:
        return len(self.table.columns) > WIDE_FROM


def leaderboard_page(
    user: Viewer, board: Board, *, phase: str, sort: str, view: str = ""
) -> LeaderboardPage:
    """Two queries, however many entries and phases there are. An unknown phase gives the newest, an
    unknown view the benchmark's own table."""
    windows = phase_windows(board)
    shown = choose_phase(windows, phase)
    table = leaderboard(board, shown, sort, view=view)
    kept = {"phase": shown.slug} if shown and len(windows) > 1 else {}
    query = kept | ({"view": table.view.key} if table.view else {})
    return LeaderboardPage(
        board=board,
        benchmark=board.spec.title,
        table=table,
        groups=head_groups(table.columns),
        heads=heads(table.columns, table.sort, query),
        phases=windows,
        tabs=_tabs(table, kept),
        rules=_rules(user, shown) if shown else None,
        grouped_query=urlencode(query),
        relative=relative_results(user, table),
        has_graded=any(section.kind == Entry.Kind.GRADED for section in table.sections),
        may_submit=any(each.is_open_to(user) for each in windows),
        may_manage=is_organiser(user),
    )


def _tabs(table: Leaderboard, kept: Mapping[str, str]) -> list[Tab]:
    if not table.views:
        return []
    current = table.view.key if table.view else ""
    return [Tab("Overall", urlencode(kept), not current)] + [
        Tab(view.title, urlencode({**kept, "view": view.key}), view.key == current)
        for view in table.views
    ]


def _rules(user: Viewer, phase: Phase) -> Rules:
    spec, release = phase.board.spec, phase.release
    options = spec.check_options(phase.options)
    listed = release.visibility != Release.Visibility.PRIVATE
    is_open = listed and release.dataset.visibility == Dataset.Visibility.PUBLIC
    return Rules(
        phase=phase,
        signature=spec.signature(options),
        options=options,
        release=release,
        shows_hash=may_see_all_gold(user, release),
        links_release=is_open or is_organiser(user),
        tables=spec.rules,
    )
