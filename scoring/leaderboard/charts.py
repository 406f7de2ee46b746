"""The charts of a board, drawn from the rows of its leaderboard.

A chart never mixes rows of different sources: a reader chooses between the rows graded here under
one signature and those of one publication. Disqualified rows are left out. `chart_shape` builds a
shape from rows; `board_charts` lists the charts of a board.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial
from typing import Any
from urllib.parse import parse_qs, urlencode

from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from scoring.access import Viewer
from scoring.benchmarks import Chart, Column, Options, common_charts, deciding_column
from scoring.charts.look import NARROW
from scoring.charts.scatter import named
from scoring.charts.shapes import (
    Axis,
    Grid,
    GridRow,
    Point,
    Scatter,
    Shape,
    Slope,
    Slopes,
    Table,
    front,
)
from scoring.models import Architecture, Board, Category, Entry, Grading, Phase
from scoring.models.boards import PhaseWindow, choose_phase

from .disclosure import as_shown, part_words
from .figures import is_score
from .filters import parameters
from .rows import Row, tokens_of
from .selectors import (
    CATEGORY_HEADINGS,
    Leaderboard,
    Section,
    Tab,
    best_first,
    leaderboard,
    part_for,
    stamped_board,
)

# More rows would be unreadable. The leaderboard's table has all of them.
MOST_ROWS = 20
_NOT_STATED = "Not stated"


@dataclass(frozen=True)
class ChartSource:
    """The data of the charts: comparable rows, best first, with the scores shown to this reader;
    their leaderboard ranks by figure; the columns by key; and the scores by part of the best row.
    """

    entries: Sequence[Entry]
    ranks: Mapping[str, Sequence[int | None]]
    figures: Mapping[str, Column]
    parts: Mapping[str, Mapping[str, Any]]


Builder = Callable[[Chart, ChartSource], Shape | None]


def chart_shape(chart: Chart, source: ChartSource) -> Shape | None:
    """Return the shape of the chart, or None if there is too little to draw."""
    return _BUILDERS[chart.kind](chart, source)


def _pair(chart: Chart, source: ChartSource) -> Shape | None:
    columns = _columns(chart, source)
    if len(columns) < 2:
        return None
    x, y = columns
    points = _points(source, lambda entry: _score(entry, x), y, _category)
    return _scatter(_axis(x), _axis(y), points)


def _points(
    source: ChartSource,
    x: Callable[[Entry], float | date | None],
    y: Column,
    group: Callable[[Entry], str] = lambda _: "",
) -> list[Point]:
    """Return the rows that have both values."""
    return [
        Point(entry.name, across, up, group(entry))
        for entry in source.entries
        if (across := x(entry)) is not None and (up := _score(entry, y)) is not None
    ]


def _size(chart: Chart, source: ChartSource) -> Shape | None:
    axis = Axis("Parameters", decimals=0, scale="log")
    return _against(chart, source, axis, lambda entry: parameters(entry.size) or None)


def _tokens(chart: Chart, source: ChartSource) -> Shape | None:
    def per_item(entry: Entry) -> float | None:
        tokens = tokens_of(entry)
        return tokens.per_item or None if tokens else None

    axis = Axis("Output tokens per item", decimals=0, scale="log")
    return _against(chart, source, axis, per_item, has_front=True)


def _cost(chart: Chart, source: ChartSource) -> Shape | None:
    def cost(entry: Entry) -> float | None:
        return None if entry.cost is None else float(entry.cost)

    return _against(chart, source, Axis("Cost in US dollars"), cost, has_front=True)


def _against(
    chart: Chart,
    source: ChartSource,
    axis: Axis,
    value: Callable[[Entry], float | None],
    *,
    has_front: bool = False,
) -> Shape | None:
    """Plot the score against a value from the model card."""
    [column] = _columns(chart, source)
    points = _points(source, value, column, _category)
    best = front(points, higher_is_better=column.direction == "up") if has_front else ()
    return _scatter(axis, _axis(column), points, tuple((each.x, each.y) for each in best))


def _released(chart: Chart, source: ChartSource) -> Shape | None:
    [column] = _columns(chart, source)
    points = _points(source, lambda entry: entry.released_on, column, _architecture)
    return _scatter(Axis("Released", scale="time"), _axis(column), points)


def _history(chart: Chart, source: ChartSource) -> Shape | None:
    """Draw rows graded here over their publication dates. Other rows have no such date."""
    [column] = _columns(chart, source)
    sign = 1 if column.direction == "up" else -1
    points = _points(source, _published_on, column)
    points.sort(key=lambda point: (point.x, -sign * point.y))
    best: list[Point] = []
    for point in points:
        if not best or sign * point.y > sign * best[-1].y:
            best.append(point)
    line = [(each.x, each.y) for each in best]
    if line and points[-1].x != line[-1][0]:
        line.append((points[-1].x, line[-1][1]))
    return _scatter(Axis("Published", scale="time"), _axis(column), points, tuple(line))


def _published_on(entry: Entry) -> date | None:
    return entry.published_at.date() if entry.kind == Entry.Kind.GRADED else None


def _ranks(chart: Chart, source: ChartSource) -> Shape | None:
    """Connect the ranks by two figures, for rows that have both."""
    ranks = [source.ranks[column.key] for column in _columns(chart, source) if column.rank]
    if len(ranks) < 2:
        return None
    slopes = [
        Slope(entry.name, before, after)
        for entry, before, after in zip(source.entries, *ranks, strict=True)
        if before is not None and after is not None
    ]
    # Rows with equal ranks keep the order of the leaderboard.
    slopes.sort(key=lambda slope: slope.right)
    if len(slopes) < 2:
        return None
    left, right = (f"by {_axis(column).label}" for column in _columns(chart, source))
    return Slopes(left, right, tuple(slopes[:MOST_ROWS]))


def _grid(chart: Chart, source: ChartSource, *, style: Any) -> Shape | None:
    """Draw the rows that have at least one of the figures."""
    columns = _columns(chart, source)
    valued = ((entry, tuple(_score(entry, each) for each in columns)) for entry in source.entries)
    rows = [
        GridRow(entry.name, values)
        for entry, values in valued
        if any(value is not None for value in values)
    ]
    if not rows:
        return None
    label = columns[0].group if style == "dots" else "Share"
    axis = Axis(label, columns[0].unit, 1 if style == "cells" else columns[0].decimals)
    names = _without_common_head([column.label for column in columns])
    return Grid(style, "System", axis, names, tuple(rows[:MOST_ROWS]), chart.reference)


def _without_common_head(labels: Sequence[str]) -> tuple[str, ...]:
    """Remove a prefix that all labels share, such as "Errors: "; the title has it already."""
    heads = {label.partition(": ")[0] for label in labels if ": " in label}
    if len(labels) < 2 or len(heads) != 1 or not all(": " in label for label in labels):
        return tuple(labels)
    return tuple(label.partition(": ")[2].capitalize() for label in labels)


def _parts(chart: Chart, source: ChartSource) -> Shape | None:
    """Draw the parts of the best row, such as document types, that have at least one figure."""
    columns = _columns(chart, source)
    rows = []
    for name, figures in source.parts.items():
        values = tuple(_number(figures.get(column.key)) for column in columns)
        if any(value is not None for value in values):
            rows.append(GridRow(name, values))
    if not rows:
        return None
    axis = Axis("Correct", columns[0].unit, 1)
    return Grid("cells", "Part", axis, tuple(c.label for c in columns), tuple(rows[:MOST_ROWS]))


def _scatter(x: Axis, y: Axis, points: Sequence[Point], line: Any = ()) -> Scatter | None:
    if len(points) < 2:
        return None
    groups = tuple(dict.fromkeys(point.group for point in points if point.group))
    return Scatter(x, y, tuple(points), groups, line)


def _axis(column: Column) -> Axis:
    label = f"{column.group} {column.label.lower()}" if column.label == "Mean" else column.label
    return Axis(label, column.unit, column.decimals)


def _columns(chart: Chart, source: ChartSource) -> list[Column]:
    """Return the chart's columns that exist under the phase's options."""
    return [source.figures[key] for key in chart.figures if key in source.figures]


def _score(entry: Entry, column: Column) -> float | None:
    return _number(entry.scores.get(column.key))


def _number(value: Any) -> float | None:
    return value if is_score(value) else None


def _category(entry: Entry) -> str:
    return CATEGORY_HEADINGS[Category(entry.category)]


def _architecture(entry: Entry) -> str:
    return Architecture(entry.architecture).label if entry.architecture else _NOT_STATED


_BUILDERS: dict[str, Builder] = {
    "ranks": _ranks,
    "pair": _pair,
    "profile": partial(_grid, style="dots"),
    "shares": partial(_grid, style="cells"),
    "parts": _parts,
    "size": _size,
    "tokens": _tokens,
    "cost": _cost,
    "released": _released,
    "history": _history,
}


_TOO_LITTLE = {
    "size": "At least two systems must state their size.",
    "tokens": "At least two systems must state their number of output tokens.",
    "cost": "At least two systems must state the cost of their run.",
    "released": "At least two systems must state their release date.",
    "history": "At least two results must be graded and published here.",
    "parts": "The figures by part are unknown or not published.",
    "profile": "No row has these figures.",
    "shares": "No row has these figures.",
}
_NAMED_AT_MOST = 5
_TWO_ROWS = "At least two systems must have both figures."


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

    @property
    def alt(self) -> str:
        """The alternative text of the picture. The table has the figures."""
        return f"{self.title}. {self.description} The figures are in the table below."


@dataclass(frozen=True)
class BoardCharts:
    """All charts of a board over rows of one source. `origin` is the source's key in the URL."""

    board: Board
    phase: Phase | None
    phases: Sequence[PhaseWindow]
    origin: str
    origin_title: str
    origins: Sequence[Tab]
    query: str
    """The query string that leads to the same rows."""
    part: str
    """The part that graded rows count, for a phase in parts."""
    part_words: str
    charts: tuple[BoardChart, ...]

    def chart(self, key: str) -> BoardChart:
        """Return the chart with this key. Raises Http404 if the board has none."""
        for chart in self.charts:
            if chart.key == key:
                return chart
        raise Http404("This board has no such chart.")

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
    """Return what the public sees of a published board: its newest phase, with rows of each
    source."""
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
    """Return the sections by kind. Further sections of a kind are numbered: graded, reported,
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
    """Name the systems whose tokens come from the submission's lines."""
    found = [(entry.name, tokens_of(entry)) for entry in source.entries]
    names = [name for name, tokens in found if tokens and tokens.source == "lines"]
    more = len(names) - _NAMED_AT_MOST
    listed = "; ".join(names[:_NAMED_AT_MOST]) + (f" and {more} more" if more > 0 else "")
    return f" From the lines of the submission: {listed}." if names else ""


def _chart(chart: Chart, source: ChartSource) -> BoardChart:
    shape = chart_shape(chart, source)
    text = chart.description
    if chart.kind == "parts" and shape:
        text = f"{text} Parts of the best system, {source.entries[0].name}."
    elif isinstance(shape, Scatter):
        are_all_named = len(shape.points) <= named(NARROW)
        text += "" if are_all_named else " Only the first are named."
        text += _line_words(source) if chart.kind == "tokens" else ""
    elif shape and len(source.entries) > MOST_ROWS:
        text = f"{text} Shown are the {MOST_ROWS} best of {len(source.entries)} systems."
    return BoardChart(chart.key, chart.title, text, shape, _TOO_LITTLE.get(chart.kind, _TWO_ROWS))
