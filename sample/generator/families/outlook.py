"""A financial outlook with its reconciliation."""

from collections.abc import Sequence
from typing import Any

from sample.generator.content import content
from sample.generator.figures import (
    Draw,
    Figures,
    added,
    amount,
    amounts,
    divided,
    percent,
    ratio,
)
from sample.generator.layout import footnotes, heading, para
from sample.generator.lines import Line, rows, sums
from sample.generator.markup import date, prose
from sample.generator.tables import Grid, Heads, Row, grid, statement, total

DILUTED_SHARES = 84_500  # thousands


def guidance(draw: Draw) -> str:
    """Ranges of the outlook; the lower table leads from net income to the same adjusted EBITDA."""
    table = content("supplemental_report")["guidance"]
    lines = [(label, tuple(figures)) for label, *figures in table["bridge"]]
    year_ebitda = added(tuple(table["net_income"][:4]), sums(lines))
    ranges = outlook_ranges(table, (*year_ebitda, *table["quarter_ebitda"]))
    look = Grid(
        "lccc", rules="all", size=8, widths=(34, 22, 22, 22), shade_head="#d9e2ec", pad="5px 6px"
    )
    change = percent(draw.between(-64, -41))
    return (
        heading("Skerrymoor Logistics, Inc.", size=13, align="left", margin="0 0 2px")
        + heading("Financial outlook", size=10, align="left")
        + para(prose(table["intro"], change=change), align="left")
        + grid(look, [prose(head) for head in table["heads"]], ranges)
        + outlook_bridge(tuple(table["net_income"][:4]), lines, year_ebitda)
        + footnotes(table["note"], 7.5)
    )


def outlook_ranges(table: dict[str, Any], ebitda: Figures) -> list[list[str]]:
    """Rows of low and high for the earlier outlook, the new one and the quarter."""
    margins = [ratio(e, r, 2) for e, r in zip(ebitda, table["revenue"], strict=True)]
    cents = [divided(value * 100, DILUTED_SHARES) for value in table["net_income"]]
    return [
        ["Revenue ($ million)", *spread(millions(table["revenue"]))],
        ["Adjusted EBITDA ($ million)", *spread(millions(ebitda))],
        ["Adjusted EBITDA margin", *rates(margins, 2)],
        ["Organic growth in daily shipments", *rates(table["growth"], 1)],
        ["Effective tax rate", *rates(table["tax_rate"], 1)],
        ["Capital expenditure ($ million)", *spread(millions(table["spending"]))],
        ["Diluted earnings per share", *spread(cents, 2)],
    ]


def millions(thousands: Sequence[int]) -> list[int]:
    return [divided(value, 1000) for value in thousands]


def pairs(line: Sequence[int]) -> list[Sequence[int]]:
    return [line[n : n + 2] for n in range(0, len(line), 2)]


def spread(line: Sequence[int], places: int = 0) -> list[str]:
    return [f"${amount(low, places)} to ${amount(high, places)}" for low, high in pairs(line)]


def rates(line: Sequence[int], places: int) -> list[str]:
    return [f"{percent(low, places)} to {percent(high, places)}" for low, high in pairs(line)]


def outlook_bridge(net: Figures, lines: list[Line], ebitda: Figures) -> str:
    body = [
        Row("Net income", amounts(net), currency="$"),
        *rows(lines),
        total("Adjusted EBITDA*", amounts(ebitda)),
        Row("Diluted shares (thousands)", (amount(DILUTED_SHARES),) * 4),
    ]
    spans = ((date("May 5, 2026"), 2), (date("August 4, 2026"), 2))
    heads = Heads(("Low", "High", "Low", "High"), spans, corner="$ in thousands", width=14)
    title = f"Reconciliation of the {date('2026')} outlook"
    return heading(title, size=9.5, align="left", margin="12px 0 2px") + statement(
        heads, body, size=8, leading=1.6
    )


BUILDERS = {"sample-sr-04": guidance}
