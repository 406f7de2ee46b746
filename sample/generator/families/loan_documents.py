"""Financial legal documents of loans: an amendment with dated covenants, a repayment schedule."""

from typing import Any

from sample.generator.content import content
from sample.generator.figures import Draw, amount, amounts, divided, percent
from sample.generator.layout import columns, heading, para
from sample.generator.markup import date, number, prose
from sample.generator.tables import Grid, grid


def amendment(draw: Draw) -> str:
    """Two justified columns of small print with a covenant table in the second one."""
    table = content("financial_legal")["covenants"]
    paid = amount(draw.between(31, 38) * 1_250_000)
    consenting = percent(draw.between(712, 884))
    left = [para(prose(text, paid=paid, consenting=consenting)) for text in table["left"]]
    return (
        heading("AMENDMENT NO. 3 TO CREDIT AGREEMENT", size=11, margin="0 0 4px")
        + para(prose(table["dated"]), align="center")
        + columns("".join(left), covenants(table), gap=30)
    )


def covenants(table: dict[str, Any]) -> str:
    rows = [
        [prose(day), *(f"{amount(ratio, 2)} to {number('1.00')}" for ratio in ratios)]
        for day, *ratios in table["steps"]
    ]
    look = Grid(
        "lrr", rules="all", size=7.5, widths=(38, 31, 31), shade_head="#ececec", pad="2px 4px"
    )
    steps = [para(prose(text), align="left", after=5) for text in table["milestones"]]
    return (
        para(table["table_clause"], after=5)
        + grid(look, table["heads"], rows)
        + para(table["milestone_clause"], after=5)
        + "".join(steps)
        + para(prose(table["extension"]))
        + para(prose(table["conditions"]))
    )


def repayment(_draw: Draw) -> str:
    """Schedule of 20 instalments: each opening balance is the closing balance above it."""
    table = content("financial_legal")["repayment"]
    loan, rate = 48_000_000_00, 5_840
    cells, sums = [], [0, 0]
    for place, (opening, principal, interest) in enumerate(schedule(loan, rate)):
        figures = opening, principal, interest, principal + interest, opening - principal
        cells.append([str(place + 1), date(quarter_end(place)), *amounts(figures, 2)])
        sums = [sums[0] + principal, sums[1] + interest]
    cells.append(["", "Total", "", *amounts((*sums, sum(sums)), 2), ""])
    look = Grid("clrrrrr", size=8, leading=1.2, bold_last=True, pad="2px 6px")
    return (
        heading("SCHEDULE II", "REPAYMENT OF THE TERM LOAN", size=11)
        + para(prose(table["intro"], loan=amount(loan, 2), rate=percent(rate, 3)))
        + grid(look, table["heads"], cells)
        + para(prose(table["prepayment"]), size=8.5)
    )


def schedule(loan: int, rate: int) -> list[tuple[int, int, int]]:
    """(opening, principal, interest) in cents; principal rises after a first year without any."""
    rows, balance = [], loan
    for quarter in range(20):
        share = 0 if quarter < 4 else 15 + 5 * ((quarter - 4) // 4)
        principal = divided(loan * share, 1000) if quarter < 19 else balance
        rows.append((balance, principal, divided(balance * rate, 400_000)))
        balance -= principal
    return rows


def quarter_end(place: int) -> str:
    """The last day of the quarter so many quarters after the first of 2026."""
    day = ("March 31", "June 30", "September 30", "December 31")[place % 4]
    return f"{day}, {2026 + place // 4}"


BUILDERS = {"sample-fl-05": amendment, "sample-fl-06": repayment}
