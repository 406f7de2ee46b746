"""The charts of a board, drawn from the rows of its leaderboard.

A chart never mixes rows of different sources: a reader chooses between the rows graded here under
one signature and those of one publication. Disqualified rows are left out. `shaping` builds
the shapes, and `pictures` keeps and draws their pictures.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import Http404

from portal.files.tables import csv_text
from scoring.access import Viewer
from scoring.benchmarks import Chart, Options, common_charts, deciding_column
from scoring.charts.look import NARROW, WIDE, Room, Size, size_of
from scoring.charts.panels import MOST_LINES
from scoring.charts.scatter import named
from scoring.charts.shapes import Bars, Scatter, Shape, Table
from scoring.charts.specs import specification
from scoring.models import Board, Entry, Grading, Phase
from scoring.models.boards import PhaseWindow, choose_phase

from .disclosure import WITHHELD, as_shown, hides_gold, part_words
from .rows import Row, Section, best_first, tokens_of
from .selectors import Leaderboard, Tab, leaderboard, part_for, unknown_part, unknown_values
from .shaping import MOST_POINTS, MOST_ROWS, ChartSource, chart_shape, spread_words

# The data that a missing chart needs.
_TWO_MODELS = "Needs at least two models with both scores."
_TO_GET = {
    "pair": _TWO_MODELS,
    "ranks": _TWO_MODELS,
    "size": "Needs at least two models whose model cards state the number of parameters.",
    "tokens": "Needs at least two models whose output token counts are known, from the model card "
    "or from output_tokens in each line of the submission.",
    "cost": "Needs at least two models whose model cards state the cost of the run.",
    "released": "Needs at least two models whose model cards state the release date.",
    "history": "Needs at least two published submissions.",
    "spread": "Needs at least five models with a score.",
    "scaling": "Needs at least two models whose model cards state the number of parameters.",
    "active": "Needs at least two models whose model cards state the active parameters, such as "
    "235B/A22B, or that the model is dense.",
    "reasoning": "Needs at least two models whose model cards state the reasoning mode and the "
    "output tokens.",
    "parts": "Needs a published submission in a phase that shows scores by subset.",
    "radar": "Needs a model with scores on at least three axes.",
}
_NAMED_AT_MOST = 5
# The sizes of SVG and Vega-Lite.
ROOMS: dict[str, Room] = {"": WIDE, "narrow": NARROW}


@dataclass(frozen=True)
class BoardChart:
    """A chart with its texts. `shape` is None if there is too little to draw."""

    key: str
    title: str
    description: str
    shape: Shape | None
    too_little: str

    @cached_property
    def table(self) -> Table | None:
        return self.shape.table() if self.shape else None

    @cached_property
    def sizes(self) -> tuple[Size, ...]:
        """The sizes of its pictures, in the order of `ROOMS`; empty for a chart without a shape."""
        if self.shape is None:
            return ()
        return tuple(size_of(specification(self.shape, room)) for room in ROOMS.values())

    @property
    def alt(self) -> str:
        """The alternative text of the picture. The table has the figures."""
        return f"{self.title}. {self.description} The values are in the table below."


@dataclass(frozen=True)
class BoardCharts:
    """All charts of a board over rows of one source. `origin` is the source's key in the URL."""

    board: Board
    phase: Phase | None
    phases: Sequence[PhaseWindow]
    origin: str
    titles: Mapping[str, str]
    """Every source of rows with its title."""
    kept: Mapping[str, str]
    """The parameters that lead to the same phase and part."""
    part: str
    """The part that graded rows count, for a phase in parts."""
    part_words: str
    charts: tuple[BoardChart, ...]

    @property
    def origin_title(self) -> str:
        return self.titles.get(self.origin, "")

    @property
    def origins(self) -> Sequence[Tab]:
        return [
            Tab(title, urlencode({**self.kept, "rows": key}), key == self.origin)
            for key, title in self.titles.items()
        ]

    @property
    def query(self) -> str:
        """The query string that leads to the same rows."""
        return urlencode({**self.kept, **({"rows": self.origin} if self.origin else {})})

    def chart(self, key: str) -> BoardChart:
        """Return the chart with this key. Raises Http404 if the board has none."""
        for chart in self.charts:
            if chart.key == key:
                return chart
        raise Http404("This board has no such chart.")

    def unknown_choices(self, asked: Mapping[str, str]) -> dict[str, list[str]]:
        """Errors by parameter for a phase, source of rows or part that the board does not have, or
        not for this user. The page ignores them."""
        phases = {window.phase.slug for window in self.phases}
        given = {name: asked.get(name, "") for name in ("phase", "rows", "part")}
        known = {"phase": phases, "rows": self.titles}
        return unknown_part(given["part"], self.part) | unknown_values(known, given)

    @property
    def drawable(self) -> list[BoardChart]:
        return [chart for chart in self.charts if chart.shape is not None]

    @property
    def others(self) -> list[BoardChart]:
        """The charts with too little to draw."""
        return [chart for chart in self.charts if chart.shape is None]


def declared_charts(table: Leaderboard) -> list[Chart]:
    """Return the benchmark's charts and the common ones, except charts of figures that the board
    hides."""
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
    """Return the charts of a board for a reader. One query, and one more if a chart shows the parts
    of the best row. An unknown phase selects the newest, an unknown origin the first. Organisers
    may request a part that is not public now."""
    shown = choose_phase(windows, phase)
    wanted = part_for(user, shown, part)
    table = leaderboard(board, shown, part=wanted)
    return charts_of(user, table, windows, origin=origin, part=wanted)


def charts_of(
    user: Viewer, table: Leaderboard, windows: Sequence[PhaseWindow], *, origin: str, part: str
) -> BoardCharts:
    """Return the charts of all rows of a board's own table. One query if a chart shows the parts of
    the best row. `part` is one that the user may choose."""
    board, shown = table.board, table.phase
    sections = _origins(table)
    chosen = origin if origin in sections else next(iter(sections), "")
    query = {"phase": shown.slug} if shown and len(windows) > 1 else {}
    query |= {"part": part} if part else {}
    declared = declared_charts(table)
    source = _source(user, table, sections.get(chosen), declared)
    is_graded = chosen in sections and sections[chosen].kind == Entry.Kind.GRADED
    is_coarse = shown is not None and is_graded and hides_gold(shown)
    titles = {
        key: "Graded by Factboard" if section.kind == Entry.Kind.GRADED else section.key
        for key, section in sections.items()
    }
    return BoardCharts(
        board=board,
        phase=shown,
        phases=windows,
        origin=chosen,
        titles=titles,
        kept=query,
        part=table.part,
        part_words=part_words(shown, table.part) if shown else "",
        charts=tuple(_chart(chart, source, is_coarse=is_coarse) for chart in declared),
    )


def _origins(table: Leaderboard) -> dict[str, Section]:
    """Return the sections by kind. Further sections of a kind are numbered: graded, reported,
    reported-2."""
    sections: dict[str, Section] = {}
    for section in table.sections:
        if all(row.is_disqualified for row in section.rows):
            continue
        number = 1 + sum(earlier.kind == section.kind for earlier in sections.values())
        sections[section.kind if number == 1 else f"{section.kind}-{number}"] = section
    return sections


def _source(
    user: Viewer, table: Leaderboard, section: Section | None, charts: Sequence[Chart]
) -> ChartSource:
    rows = _in_order(table, section) if section else []
    entries = [row.entry for row in rows]
    # Scores by part count all items, which must stay hidden in a phase with public and private
    # parts.
    has_parts = any(chart.kind == "parts" for chart in charts) and not table.part
    parts = _shown_parts(user, table.phase, entries[0]) if has_parts and entries else {}
    ranks = {
        column.basis: [row.ranks[column.key] for row in rows]
        for column in table.columns
        if column.is_rank
    }
    return ChartSource(entries, ranks, table.board.spec.figures_for(_options(table)), parts)


def _in_order(table: Leaderboard, section: Section) -> list[Row]:
    """Return the rows best first, regardless of the page's sort order."""
    return best_first((row for row in section.rows if not row.is_disqualified), table.columns)


def _shown_parts(user: Viewer, phase: Phase | None, entry: Entry) -> Mapping[str, Any]:
    if phase is None or entry.grading_id is None:
        return {}
    subsets: Mapping[str, Any] = as_shown(
        user, phase, Grading.objects.get(pk=entry.grading_id)
    ).subsets
    return subsets


def _line_words(source: ChartSource) -> str:
    """Name the models whose tokens come from the submission's lines."""
    tokens_by_model = [(entry.name, tokens_of(entry)) for entry in source.entries]
    names = [name for name, tokens in tokens_by_model if tokens and tokens.source == "lines"]
    more = len(names) - _NAMED_AT_MOST
    listed = "; ".join(names[:_NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "")
    return f" Token counts come from the submission file for {listed}." if names else ""


def _chart(chart: Chart, source: ChartSource, *, is_coarse: bool) -> BoardChart:
    shape = chart_shape(chart, source)
    text = chart.description
    if chart.kind == "parts" and shape:
        text = f"{text.removesuffix('.')}, for the best model, {source.entries[0].name}."
    elif isinstance(shape, Scatter):
        text += _point_words(shape)
        text += _line_words(source) if chart.kind in {"tokens", "reasoning"} else ""
    elif isinstance(shape, Bars):
        text += f" Mean and standard deviation: {spread_words(chart, source)}."
    elif chart.kind == "radar" and len(source.entries) > MOST_LINES:
        text = f"{text} Only the top {MOST_LINES} models that have all scores are shown."
    elif shape and len(source.entries) > MOST_ROWS:
        text = f"{text} Only the top {MOST_ROWS} of {len(source.entries):,} models are shown."
    too_little = _TO_GET.get(chart.kind, "Needs a model with these scores.")
    scored = {key for entry in source.entries for key in entry.scores}
    if is_coarse and not scored.intersection(chart.figures):
        too_little = WITHHELD
    return BoardChart(chart.key, chart.title, text, shape, too_little)


def _point_words(shape: Scatter) -> str:
    """State which points are shown and labelled, if not all are."""
    text = ""
    if shape.total > len(shape.points):
        line = " and those on the line" if len(shape.line) > 1 else ""
        text = f" Only the top {MOST_POINTS} of {shape.total:,} models{line} are shown."
    are_all_named = len(shape.points) <= named(NARROW)
    return text + ("" if are_all_named else " Only the top models are labelled.")


def file_name(shown: BoardCharts, chart: BoardChart) -> str:
    """Return a name of board, phase and chart, such as `board-test-ranks`, without an extension."""
    phase = f"-{shown.phase.slug}" if shown.phase else ""
    return f"{shown.board.slug}{phase}-{chart.key}"


def chart_csv(chart: BoardChart) -> str:
    """Return the drawn rows: rates in [0, 1], at most six decimals. Empty for a chart without
    rows."""
    if chart.table is None:
        return ""
    return csv_text([chart.table.heads, *chart.table.lines])


class Picture(NamedTuple):
    """A chart on the page, with the sizes reserved for it on wide and on narrow screens."""

    chart: BoardChart
    wide: Size
    narrow: Size


def pictures(charts: Iterable[BoardChart]) -> list[Picture]:
    """Return the charts that have a shape with the sizes of their pictures, which need not be
    drawn."""
    return [Picture(chart, *chart.sizes) for chart in charts if chart.shape is not None]
