"""The charts of a board for one reader: the rows are those of its leaderboard, and nothing more.

Rows of different origins are never in one chart: what was graded here under one signature, and what
each source reports, are a choice. What was disqualified is in none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, urlencode

from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from scoring.access import Viewer
from scoring.benchmarks import Chart, Options, common_charts, deciding_column
from scoring.charts.look import NARROW
from scoring.charts.scatter_specs import named
from scoring.charts.shapes import Scatter, Shape, Table
from scoring.models import Board, Entry, Grading, Phase
from scoring.models.boards import PhaseWindow, choose_phase

from .chart_shapes import MOST_ROWS, ChartSource, chart_shape
from .leaderboard_page import Tab, part_for
from .leaderboard_rows import Row
from .leaderboards import Leaderboard, Section, best_first, leaderboard
from .output_tokens import tokens_of
from .stamps import stamped_board
from .telling import as_told, part_words

_TOO_LITTLE = {
    "size": "At least two systems must state their size.",
    "tokens": "At least two systems must state how many tokens they wrote.",
    "cost": "At least two systems must state what their run cost.",
    "released": "At least two systems must state when they came out.",
    "history": "At least two results must have been graded and published here.",
    "parts": "The figures of the parts are not known here, or not told.",
    "profile": "No row has these figures.",
    "shares": "No row has these figures.",
}
_NAMED_AT_MOST = 5
_TWO_ROWS = "At least two systems must have both figures."


@dataclass(frozen=True)
class BoardChart:
    """A chart with its words; `shape` is None where there is too little to draw."""

    key: str
    title: str
    told: str
    shape: Shape | None
    too_little: str

    @cached_property
    def table(self) -> Table | None:
        return self.shape.table() if self.shape else None

    @property
    def alt(self) -> str:
        """What a reader is told who does not see the picture; the figures stand in the table."""
        return f"{self.title}. {self.told} The figures are in the table below."


@dataclass(frozen=True)
class BoardCharts:
    """All charts of a board over rows of one origin; `origin` is its key in the address."""

    board: Board
    phase: Phase | None
    phases: Sequence[PhaseWindow]
    origin: str
    origin_title: str
    origins: Sequence[Tab]
    query: str
    """Leads to the same rows."""
    part: str
    """Of a phase in parts: the one that the graded rows count."""
    part_words: str
    charts: tuple[BoardChart, ...]

    def chart(self, key: str) -> BoardChart:
        """404 unless the board has a chart of this key."""
        for chart in self.charts:
            if chart.key == key:
                return chart
        raise Http404("The board has no such chart.")

    @property
    def drawable(self) -> list[BoardChart]:
        return [chart for chart in self.charts if chart.shape is not None]

    @property
    def others(self) -> list[BoardChart]:
        """Those with too little to draw."""
        return [chart for chart in self.charts if chart.shape is None]


def declared_charts(table: Leaderboard) -> list[Chart]:
    """The benchmark's own and the common ones, without those of figures that the board's table
    would have and does not show."""
    spec = table.board.spec
    columns = spec.columns_for(_options(table))
    shown = {column.basis for column in table.columns}
    hidden = {column.key for column in columns if column.headline or column.rank} - shown
    charts = [*spec.charts, *common_charts(deciding_column(columns).key)]
    return [chart for chart in charts if not hidden & set(chart.figures)]


def _options(table: Leaderboard) -> Options:
    return table.board.spec.check_options({} if table.phase is None else table.phase.options)


def board_charts(
    user: Viewer,
    board: Board,
    windows: Sequence[PhaseWindow],
    *,
    phase: str = "",
    origin: str = "",
    part: str = "",
) -> BoardCharts:
    """One query, and one more where a chart has the parts of the best row. An unknown phase gives
    the newest, an unknown origin the first; organisers may ask for a part that is not told now."""
    shown = choose_phase(windows, phase)
    wanted = part_for(user, shown, part)
    table = leaderboard(board, shown, part=wanted)
    sections = _origins(table)
    chosen = origin if origin in sections else next(iter(sections), "")
    kept = {"phase": shown.slug} if shown and len(windows) > 1 else {}
    kept |= {"part": wanted} if wanted else {}
    declared = declared_charts(table)
    source = _source(user, table, sections.get(chosen), declared)
    titles = {key: _title(section) for key, section in sections.items()}
    return BoardCharts(
        board=board,
        phase=shown,
        phases=windows,
        origin=chosen,
        origin_title=titles.get(chosen, ""),
        origins=[
            Tab(title, urlencode({**kept, "rows": key}), key == chosen)
            for key, title in titles.items()
        ],
        query=urlencode({**kept, **({"rows": chosen} if chosen else {})}),
        part=table.part,
        part_words=part_words(shown, table.part) if shown else "",
        charts=tuple(_chart(each, source) for each in declared),
    )


def public_charts(slug: str) -> list[BoardCharts]:
    """What the public sees of a published board: its newest phase, over rows of each origin."""
    public = AnonymousUser()
    stamped = stamped_board(public, slug)
    first = board_charts(public, stamped.board, stamped.windows)
    keys = [parse_qs(tab.query).get("rows", [""])[0] for tab in first.origins]
    others = [key for key in keys if key != first.origin]
    return [
        first,
        *(board_charts(public, stamped.board, stamped.windows, origin=key) for key in others),
    ]


def _origins(table: Leaderboard) -> dict[str, Section]:
    """Sections by kind, from the second of a kind on with its number: graded, reported,
    reported-2."""
    found: dict[str, Section] = {}
    for section in table.sections:
        if all(row.is_disqualified for row in section.rows):
            continue
        number = 1 + sum(each.kind == section.kind for each in found.values())
        found[section.kind if number == 1 else f"{section.kind}-{number}"] = section
    return found


def _title(section: Section) -> str:
    if section.kind == Entry.Kind.GRADED:
        return "Graded here"
    return section.key


def _source(
    user: Viewer, table: Leaderboard, section: Section | None, charts: Sequence[Chart]
) -> ChartSource:
    rows = _in_order(table, section) if section else []
    entries = [row.entry for row in rows]
    # Parts are of all items, which a phase in public and private ones does not tell.
    has_parts = any(chart.kind == "parts" for chart in charts) and not table.part
    parts = _told_parts(user, table.phase, entries[0]) if has_parts and entries else {}
    ranks = {
        column.basis: [row.ranks[column.key] for row in rows]
        for column in table.columns
        if column.is_rank
    }
    return ChartSource(entries, ranks, table.board.spec.figures_for(_options(table)), parts)


def _in_order(table: Leaderboard, section: Section) -> list[Row]:
    """Best first as on the leaderboard, whatever the page is sorted by."""
    return best_first((row for row in section.rows if not row.is_disqualified), table.columns)


def _told_parts(user: Viewer, phase: Phase | None, entry: Entry) -> Mapping[str, Any]:
    if phase is None or entry.grading_id is None:
        return {}
    subsets: Mapping[str, Any] = as_told(
        user, phase, Grading.objects.get(pk=entry.grading_id)
    ).subsets
    return subsets


def _line_words(source: ChartSource) -> str:
    """Which systems' tokens are not those of their cards."""
    found = [(entry.name, tokens_of(entry)) for entry in source.entries]
    names = [name for name, tokens in found if tokens and tokens.source == "lines"]
    more = len(names) - _NAMED_AT_MOST
    listed = "; ".join(names[:_NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "")
    return f" From the lines of the submission: {listed}." if names else ""


def _chart(chart: Chart, source: ChartSource) -> BoardChart:
    shape = chart_shape(chart, source)
    told = chart.told
    if chart.kind == "parts" and shape:
        told = f"{told} Of the best system, {source.entries[0].name}."
    elif isinstance(shape, Scatter):
        are_all_named = len(shape.points) <= named(NARROW)
        told += "" if are_all_named else " Where there are many, the first ones are named."
        told += _line_words(source) if chart.kind == "tokens" else ""
    elif shape and len(source.entries) > MOST_ROWS:
        told = f"{told} Of {len(source.entries)} systems the {MOST_ROWS} best are shown."
    return BoardChart(chart.key, chart.title, told, shape, _TOO_LITTLE.get(chart.kind, _TWO_ROWS))
