"""Where everything stands in a chart. Pure; lengths are in units of the SVG.

`templates/charts/` draws what is laid out here, on a page and as a file that stands alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

Anchor: TypeAlias = Literal["start", "middle", "end"]

_WIDTH = 720
_COLUMNS_HEIGHT = 300
_LEFT, _RIGHT, _UPPER, _LOWER = 56, 16, 30, 58
_GAP = 0.15
_WIDEST = 72
# More names would run into each other.
_MOST_NAMES = 20
_LETTERS_IN_A_ROW = 90

_ROW, _ROW_BAR, _ROWS_LEFT, _ROWS_RIGHT = 34, 20, 230, 70
_LONGEST_NAME = 28


class Amount(NamedTuple):
    """What a bar stands for: its name, and how much, 0 or more."""

    name: str
    value: int


class Writing(NamedTuple):
    """A text and the point it stands at."""

    x: float
    y: float
    text: str
    anchor: Anchor = "middle"


class Bar(NamedTuple):
    """A rectangle; `title` tells what it shows."""

    x: float
    y: float
    width: float
    height: float
    title: str


class Rule(NamedTuple):
    """A line of the axis, from one point to another."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True)
class BarChart:
    """`key` is unique on a page; `description` says all that is drawn in words.

    `amounts` are what is drawn, of which `axis` says what the names are, `unit` what is counted.
    """

    key: str
    title: str
    description: str
    amounts: tuple[Amount, ...]
    axis: str
    unit: str
    width: int
    height: int
    bars: tuple[Bar, ...]
    rules: tuple[Rule, ...]
    writings: tuple[Writing, ...]


def column_chart(
    key: str, title: str, amounts: Sequence[Amount], *, axis: str, unit: str
) -> BarChart:
    """Columns side by side, their names below; `axis` says what the names are, `unit` the amounts.

    Raises ValueError without amounts: there is nothing to draw.
    """
    most = _most(amounts)
    room = _WIDTH - _LEFT - _RIGHT
    step = room / len(amounts)
    ground = _COLUMNS_HEIGHT - _LOWER
    longest = max(len(amount.name) for amount in amounts)
    names_at_once = min(_MOST_NAMES, _LETTERS_IN_A_ROW // (longest + 2) or 1)
    every = -(-len(amounts) // names_at_once)
    marks = _marks(most)

    def height(value: int) -> float:
        return round((ground - _UPPER) * value / marks[-1], 1)

    width = min(step * (1 - _GAP), _WIDEST)
    bars = tuple(
        Bar(
            x=round(_LEFT + step * (place + 0.5) - width / 2, 1),
            y=round(ground - height(amount.value), 1),
            width=round(width, 1),
            height=height(amount.value),
            title=_told(amount, unit),
        )
        for place, amount in enumerate(amounts)
    )
    names = [
        Writing(round(_LEFT + step * (place + 0.5), 1), ground + 18, amount.name)
        for place, amount in enumerate(amounts)
        if place % every == 0
    ]
    scale = [Writing(_LEFT - 8, ground - height(mark) + 4, f"{mark:,}", "end") for mark in marks]
    return BarChart(
        key=key,
        title=title,
        description=_description(amounts, unit),
        amounts=tuple(amounts),
        axis=axis,
        unit=unit,
        width=_WIDTH,
        height=_COLUMNS_HEIGHT,
        bars=bars,
        rules=tuple(
            Rule(_LEFT, ground - height(mark), _WIDTH - _RIGHT, ground - height(mark))
            for mark in marks
        ),
        writings=(
            *scale,
            *names,
            Writing(8, 16, unit, "start"),
            Writing(_WIDTH - _RIGHT, _COLUMNS_HEIGHT - 14, axis, "end"),
        ),
    )


def row_chart(key: str, title: str, amounts: Sequence[Amount], *, axis: str, unit: str) -> BarChart:
    """Bars below each other, their names before and their amounts behind them.

    Raises ValueError without amounts: there is nothing to draw.
    """
    most = max(_most(amounts), 1)
    room = _WIDTH - _ROWS_LEFT - _ROWS_RIGHT
    tops = [12 + _ROW * place for place in range(len(amounts))]
    widths = [round(room * amount.value / most, 1) for amount in amounts]
    bars = tuple(
        Bar(_ROWS_LEFT, top, width, _ROW_BAR, _told(amount, unit))
        for amount, top, width in zip(amounts, tops, widths, strict=True)
    )
    writings = [
        writing
        for amount, top, width in zip(amounts, tops, widths, strict=True)
        for writing in (
            Writing(_ROWS_LEFT - 10, top + 15, _short(amount.name), "end"),
            Writing(_ROWS_LEFT + width + 8, top + 15, f"{amount.value:,}", "start"),
        )
    ]
    height = 12 + _ROW * len(amounts)
    return BarChart(
        key=key,
        title=title,
        description=_description(amounts, unit),
        amounts=tuple(amounts),
        axis=axis,
        unit=unit,
        width=_WIDTH,
        height=height,
        bars=bars,
        rules=(Rule(_ROWS_LEFT, 4, _ROWS_LEFT, height - 4),),
        writings=tuple(writings),
    )


def _most(amounts: Sequence[Amount]) -> int:
    if not amounts:
        raise ValueError("there is nothing to draw")
    return max(amount.value for amount in amounts)


def _marks(most: int) -> list[int]:
    """Round numbers from 0 to `most` or beyond, two to six of them.

    >>> _marks(7), _marks(0), _marks(1_234)
    ([0, 2, 4, 6, 8], [0, 1], [0, 500, 1000, 1500])
    """
    step = power = 1
    while step * 5 < most:
        for factor in (2, 5, 10):
            step = factor * power
            if step * 5 >= most:
                break
        else:
            power *= 10
    return [step * number for number in range(max(1, -(-most // step)) + 1)]


def _told(amount: Amount, unit: str) -> str:
    return f"{amount.name}: {amount.value:,} {unit}"


def _description(amounts: Sequence[Amount], unit: str) -> str:
    told = "; ".join(f"{amount.name}: {amount.value:,}" for amount in amounts)
    return f"{unit.capitalize()} by name. {told}."


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
