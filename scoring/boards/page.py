"""The page of a board: its views, leaderboard, filters, rules and links."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator

from portal.accounts.access import is_organiser
from portal.datasets.access import may_see_all_gold
from portal.datasets.models import Release
from scoring.access import Viewer, may_open_release
from scoring.benchmarks import Headline, RuleTable, deciding_column
from scoring.benchmarks.options import option_title
from scoring.leaderboard.columns import (
    GROUPED,
    Head,
    TableFrame,
    explanations,
    head_groups,
    heads,
    table_frame,
)
from scoring.leaderboard.disclosure import PARTS, WITHHELD, part_words, rounding_words
from scoring.leaderboard.filters import ALL_ROWS, RowFilter
from scoring.leaderboard.headline import (
    HeadlineTable,
    Lead,
    headline_table,
    lead_of,
    supporting_columns,
)
from scoring.leaderboard.rows import Section
from scoring.leaderboard.selectors import (
    Leaderboard,
    Tab,
    filled_views,
    leaderboard,
    part_for,
    rows_between,
)
from scoring.models import Board, Entry, Phase, Regrade, RegradedPhase
from scoring.models.boards import PhaseWindow, choose_phase, phase_windows

from .selectors import ExampleFile, Relative, example_file, is_open_to, relative_results

# The views of a board that are not views of its benchmark: the first view, the benchmark's own
# table, and the losses on a stress variant.
HEADLINE, ALL_SCORES, ROBUSTNESS = "headline", "scores", "robustness"
# The parameters of a table before filters and pages.
OF_TABLE = ("phase", "sort", "view", "part")
PAGE_ROWS = 100
# The page number that asks for all rows.
EVERY_ROW = "all"
# The number of items in the words for a figure.
_OVER_ITEMS = re.compile(r", over \{count\} \w+")
# A table with more columns may be wider than the page.
WIDE_FROM = 9


@dataclass(frozen=True)
class Rules:
    """The settings behind the graded rows, enough to reproduce and cite them."""

    phase: Phase
    signature: str
    options: Sequence[tuple[str, str, str]]
    """Readable name, name and value of each option."""
    words: Sequence[str]
    """Explanations of the options."""
    headline: Headline | None
    release: Release
    shows_hash: bool
    """False if the gold is hidden from the reader: then its hash is hidden too."""
    links_release: bool
    tables: Sequence[RuleTable]

    @property
    def rounding_words(self) -> str:
        """How scores are shown, where the gold is hidden."""
        return rounding_words(self.phase, is_scored=True)

    @cached_property
    def item_count(self) -> int:
        """The number of items that the phase grades. One query for a split."""
        return self.phase.items.count() if self.phase.split else self.release.item_count

    @property
    def fact_count(self) -> int | None:
        """The number of facts that the phase grades; None if it is not public or not known."""
        return self.release.fact_count if self.shows_hash and not self.phase.split else None

    @property
    def measures(self) -> str:
        """The main score in words, with the number of items or facts."""
        is_by_fact = self.headline is not None and self.headline.counted == "facts"
        return measured(self.phase, self.fact_count if is_by_fact else self.item_count)


def measured(phase: Phase, count: int | None = None) -> str:
    """The main score of a phase in words."""
    deciding, spec = deciding_column(phase.columns), phase.board.spec
    headline = spec.headline_for(spec.check_options(phase.options))
    if headline is None:
        return f"{deciding.label}: {deciding.help}"
    words = headline.measures if count else _OVER_ITEMS.sub("", headline.measures)
    return f"{deciding.label}: {words.replace('{count} ', f'{count:,} ' if count else '')}"


@dataclass(frozen=True)
class LeaderboardPage:
    """The content around the table is computed at once. The table and everything that depends on
    its rows are computed on first use, which a cached page never needs."""

    user: Viewer
    board: Board
    frame: TableFrame
    face: str
    """HEADLINE, ALL_SCORES, ROBUSTNESS or the key of one of the benchmark's views."""
    phase: Phase | None
    phases: Sequence[PhaseWindow]
    part: str
    """The part that an organiser asked for; empty: the part that is shown now."""
    wanted: RowFilter
    others: str
    """Not empty if the reader asked for reported and human rows too."""
    number: str
    """The page of rows that the reader asked for, or EVERY_ROW."""
    sort: str
    stamp: str
    """Cache key of the table's part of the page; empty: it is not cached."""
    table_stamp: str
    """Cache key of the table with all rows; empty: it is not cached."""

    @cached_property
    def table(self) -> Leaderboard:
        return leaderboard(
            self.board,
            self.phase,
            self.sort,
            view=self.frame.view.key if self.frame.view else "",
            part=self.part,
            wanted=self.wanted,
            stamp=self.table_stamp,
        )

    @property
    def benchmark(self) -> str:
        return self.board.spec.title

    @property
    def is_headline(self) -> bool:
        return self.face == HEADLINE

    @cached_property
    def groups(self) -> Sequence[tuple[str, int]]:
        return head_groups(self.frame.columns)

    @cached_property
    def heads(self) -> Sequence[Head]:
        return heads(self.frame.columns, self.frame.sort, self._query)

    @cached_property
    def lead(self) -> Lead | None:
        """Who leads among the rows graded under the rules of now. Two queries, or none if the
        process has kept the table.

        None in a view that ranks by another figure than the board.
        """
        if self.rules is None or self.face == ROBUSTNESS or not self._is_ranked_as_board:
            return None
        graded = [section for section in self.table.unfiltered if section.kind == Entry.Kind.GRADED]
        current = [section for section in graded if section.key == self.rules.signature]
        if not graded:
            return None
        section = current[0] if current else graded[-1]
        cache = section.kept
        if "lead" not in cache:
            cache["lead"] = lead_of(section, self.rules.phase)
        lead: Lead | None = cache["lead"]
        return lead

    @property
    def _is_ranked_as_board(self) -> bool:
        assert self.rules is not None
        deciding = deciding_column(self.rules.phase.columns).key
        return any(column.decides and column.basis == deciding for column in self.frame.columns)

    @cached_property
    def other_count(self) -> int:
        """The number of reported and human rows that the reader can add to those graded here; 0 if
        there are no others to be added to."""
        kinds = {section.kind for section in self.table.unfiltered}
        if Entry.Kind.GRADED not in kinds:
            return 0
        others = [section for section in self.table.unfiltered if section.kind != Entry.Kind.GRADED]
        return sum(section.size for section in others)

    @property
    def others_label(self) -> str:
        kinds = {section.kind for section in self.table.unfiltered} - {Entry.Kind.GRADED}
        names = {Entry.Kind.REPORTED: "papers", Entry.Kind.HUMAN: "people"}
        return f"Results from {' and '.join(names[kind] for kind in names if kind in kinds)}"

    @property
    def shows_others(self) -> bool:
        return self._asks_for_others or not self.other_count

    @property
    def _asks_for_others(self) -> bool:
        return bool(self.others or set(self.wanted.kind) - {Entry.Kind.GRADED})

    def _visible(self, sections: Sequence[Section]) -> list[Section]:
        return [
            section
            for section in sections
            if self.shows_others or section.kind == Entry.Kind.GRADED
        ]

    @property
    def total(self) -> int:
        """Number of rows without filters."""
        return sum(section.size for section in self._visible(self.table.unfiltered))

    @cached_property
    def rows(self) -> "Page[int]":
        """The rows of this page, by their place among all that are shown."""
        shown = sum(section.size for section in self._visible(self.table.sections))
        size = max(shown, 1) if self.number == EVERY_ROW else PAGE_ROWS
        return Paginator(range(shown), size).get_page(self.number)

    @cached_property
    def sections(self) -> Sequence[Section]:
        """The sections with the rows of this page."""
        first = max(self.rows.start_index() - 1, 0)
        return rows_between(
            self._visible(self.table.sections), first, first + len(self.rows.object_list)
        )

    @cached_property
    def headline(self) -> HeadlineTable:
        spec = self.board.spec
        words = self.rules.headline if self.rules else spec.headline_for(spec.default_options)
        headings = words.supporting if words else {}
        return headline_table(
            self.sections,
            self._visible(self.table.unfiltered),
            self.frame.columns,
            supporting_columns(self.board, self.phase, self.frame.columns, headings),
        )

    @property
    def explained(self) -> list[tuple[str, str, bool]]:
        """The legend below the table: all figures that it shows."""
        figures = [column for column in self.frame.columns if not column.is_rank]
        if not self.is_headline:
            return explanations(figures)
        chosen = {column.key for column in self.headline.supporting}
        rest = [column for column in figures if column.key not in chosen]
        return explanations([*self.headline.supporting, *rest])

    @property
    def phase_tabs(self) -> Sequence[Tab]:
        """The board's phases; empty if there is only one."""
        if len(self.phases) < 2:
            return []
        query = {**self._view_query, **self._rows_query}
        return [
            Tab(
                window.phase.title,
                _query_string({"phase": window.phase.slug, **query}),
                window.phase == self.phase,
            )
            for window in self.phases
        ]

    @property
    def tabs(self) -> Sequence[Tab]:
        """The board's views, without those that are empty. A reader who asked for results of papers
        sees all, because these can have figures where the graded rows have none."""
        query = {**self._phase_query, **self._rows_query}
        filled = self.frame.views if self._asks_for_others else filled_views(self.table)
        shown = [view for view in self.frame.views if view in filled or view.key == self.face]
        views = [(ALL_SCORES, "All scores"), *((view.key, view.title) for view in shown)]
        if self.phase and self.phase.release.dataset.derived_from_id is not None:
            views.append((ROBUSTNESS, "Robustness"))
        return [
            Tab("Overview", _query_string(query), self.is_headline),
            *(Tab(name, _query_string({**query, "view": key}), self.face == key)
              for key, name in views),
        ]  # fmt: skip

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

    @property
    def rounding_words(self) -> str:
        """How the scores of graded rows are shown, where the gold is hidden."""
        graded = [each for each in self.table.unfiltered if each.kind == Entry.Kind.GRADED]
        is_scored = any(section.extent for section in graded)
        words = rounding_words(self.phase, is_scored=is_scored)
        return WITHHELD if words and self.table.is_withheld else words

    @cached_property
    def rules(self) -> Rules | None:
        return rules_of(self.user, self.phase) if self.phase else None

    @property
    def grouped_query(self) -> str:
        """The query of the table grouped by the kind of system."""
        order = {"sort": GROUPED} if self.board.default_sort else {}
        return _query_string({**self._query, **order})

    @property
    def unfiltered_query(self) -> str:
        """The query of all rows in the same order."""
        query = {name: self._query[name] for name in self._query if name not in self.wanted.query}
        return _query_string({**query, **self._sort_query})

    @property
    def hidden_fields(self) -> Sequence[tuple[str, str]]:
        """Hidden fields of the filter form, which keep the rest of the query."""
        shown = {**self._phase_query, **self._view_query, **self._sort_query}
        shown |= {"part": self.part} if self.part else {}
        return [*shown.items(), *(("kind", kind) for kind in self.wanted.kind)]

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
    def is_compared(self) -> bool:
        """Whether any ranks shown count only significantly better rows."""
        return any(section.is_compared for section in self.sections)

    @property
    def has_intervals(self) -> bool:
        return any(section.has_intervals for section in self.table.unfiltered)

    @property
    def file_query(self) -> str:
        """The query of the same rows as a file or on another page of them."""
        return _query_string({**self._query, **self._sort_query})

    @property
    def link_query(self) -> str:
        """The query of a permanent link: it names phase, view and order, whose defaults may
        change."""
        named = {"phase": self.phase.slug} if self.phase else {}
        order = {} if self.is_headline else {"sort": self._sort_query.get("sort", GROUPED)}
        return _query_string({**named, "view": self.face, **self._query, **order})

    @cached_property
    def example(self) -> ExampleFile | None:
        """A file to try a sample board with."""
        return example_file(self.board)

    @property
    def may_submit(self) -> bool:
        return any(is_open_to(window, self.user) for window in self.phases)

    @property
    def may_manage(self) -> bool:
        return is_organiser(self.user)

    @property
    def is_wide(self) -> bool:
        return not self.is_headline and len(self.frame.columns) > WIDE_FROM

    @property
    def phase_suffix(self) -> str:
        """The end of a link to another page about the same phase."""
        query = _query_string(self._phase_query)
        return f"?{query}" if query else ""

    @property
    def _phase_query(self) -> dict[str, str]:
        return {"phase": self.phase.slug} if self.phase and len(self.phases) > 1 else {}

    @property
    def _view_query(self) -> dict[str, str]:
        return {} if self.is_headline else {"view": self.face}

    @property
    def _sort_query(self) -> dict[str, str]:
        sort = self.frame.sort
        if self.is_headline or not sort.key:
            return {}
        return {"sort": f"{'-' if sort.is_reversed else ''}{sort.key}"}

    @property
    def _rows_query(self) -> dict[str, Any]:
        return {**self.wanted.query, **({"others": "on"} if self.others else {})}

    @property
    def _query(self) -> dict[str, Any]:
        """The query without the order and the page of rows."""
        part = {"part": self.part} if self.part else {}
        return {**self._phase_query, **self._view_query, **part, **self._rows_query}


def leaderboard_page(
    user: Viewer,
    board: Board,
    *,
    phase: str,
    sort: str,
    view: str = "",
    part: str = "",
    page: str = "",
    wanted: RowFilter = ALL_ROWS,
    others: str = "",
    windows: Sequence[PhaseWindow] | None = None,
    stamp: str = "",
    table_stamp: str = "",
) -> LeaderboardPage:
    """The page, with five queries when it is rendered; six on a sample board or for a split. One
    less if `windows` is given, all but one less if its table is cached.

    An unknown phase gives the newest, an unknown view the headline; an order without a view asks
    for the whole table. Only organisers can ask for a part that is not shown now.
    """
    windows = phase_windows(board) if windows is None else windows
    shown = choose_phase(windows, phase)
    frame = table_frame(board, shown, sort, view=view)
    face = _face(frame, view, sort)
    if face == HEADLINE:
        sort = next(column.key for column in frame.columns if column.decides)
    return LeaderboardPage(
        user=user,
        board=board,
        frame=frame,
        face=face,
        phase=shown,
        phases=windows,
        part=part_for(user, shown, part),
        wanted=wanted,
        others=others,
        number=page,
        sort=sort,
        stamp=stamp,
        table_stamp=table_stamp,
    )


def _face(frame: TableFrame, view: str, sort: str) -> str:
    if frame.view:
        return frame.view.key
    if view in {ALL_SCORES, ROBUSTNESS}:
        return view
    return ALL_SCORES if sort and view != HEADLINE else HEADLINE


def _query_string(query: Mapping[str, Any]) -> str:
    return urlencode(query, doseq=True)


def board_rules(user: Viewer, board: Board, phase: str) -> Rules | None:
    """The rules of this phase, or of the newest; None for a board without phases. One query."""
    chosen = choose_phase(phase_windows(board), phase)
    return rules_of(user, chosen) if chosen else None


def rules_of(user: Viewer, phase: Phase) -> Rules:
    spec, release = phase.board.spec, phase.release
    options = spec.check_options(phase.options)
    return Rules(
        phase=phase,
        signature=spec.signature(options),
        options=[(option_title(name), name, value) for name, value in options.items()],
        words=spec.words(options),
        headline=spec.headline_for(options),
        release=release,
        shows_hash=may_see_all_gold(user, release),
        links_release=may_open_release(user, release),
        tables=spec.rules,
    )
