"""Other parts of financial statements: segments, equity roll-forward, quarters."""

from dataclasses import replace

from sample.generator.content import content
from sample.generator.figures import (
    Draw,
    Figures,
    added,
    amount,
    amounts,
    change,
    divided,
    less,
    percent,
    ratio,
    shares_of,
)
from sample.generator.layout import footnotes, heading, mark, para
from sample.generator.lines import drawn, sums
from sample.generator.markup import date, number
from sample.generator.tables import Grid, Heads, Row, grid, statement, subtotal, total


def segments(draw: Draw) -> str:
    intro = (
        "The Group has four operating segments, which are also its reportable segments. "
        "The Board, as chief "
        "operating decision maker, assesses them by segment operating profit. Sales "
        "between segments are made "
        f"at arm’s length. One customer accounted for {percent(draw.between(104, 118))} "
        "of Group revenue in "
        f"the year ended {date('31 December 2025')} ({date('2024')}: "
        f"{percent(draw.between(101, 112))})."
    )
    years = [Segments(draw), Segments(draw)]
    tables = (
        year.table(draw, day)
        for year, day in zip(years, ("31 December 2025", "31 December 2024"), strict=True)
    )
    return (
        heading("Tolverne Industrial Group plc", size=9, align="right", margin="0 0 4px")
        + heading("Notes to the Group financial statements continued", size=12, align="left")
        + heading("4 Segment information", size=10, align="left", margin="0 0 4px")
        + para(intro)
        + "".join(tables)
        + regions(draw, *(sum(year.sales) for year in years))
    )


class Segments:
    """A year of the segments in £ million with one decimal; eliminations and Group follow."""

    def __init__(self, draw: Draw) -> None:
        self.content = content("financial_statement")["segments"]
        self.sales = self.drawn(draw, "sales")
        self.internal = self.drawn(draw, "internal")
        self.gross = added(self.sales, self.internal)
        margins = (
            draw.between(10 * low, 10 * high) for low, high in self.content["margin_percent"]
        )
        self.profit = tuple(divided(g * m, 1000) for g, m in zip(self.gross, margins, strict=True))

    def drawn(self, draw: Draw, name: str) -> Figures:
        return tuple(draw.between(low, high) for low, high in self.content[name])

    def margins(self) -> tuple[str, ...]:
        each = (percent(ratio(p, g)) for p, g in zip(self.profit, self.gross, strict=True))
        return (*each, "", percent(ratio(sum(self.profit), sum(self.sales))))

    def table(self, draw: Draw, day: str) -> str:
        """Columns: the segments, eliminations, the Group."""
        inside = sum(self.internal)
        body = [
            Row(
                "External sales",
                amounts((*self.sales, 0, sum(self.sales)), 1),
                currency="£",
                bare=(4,),
            ),
            Row("Inter-segment sales", amounts((*self.internal, -inside, 0), 1)),
            subtotal("Segment sales", amounts((*self.gross, -inside, sum(self.sales)), 1), 0),
            Row(
                "Segment operating profit", amounts((*self.profit, 0, sum(self.profit)), 1), "total"
            ),
            Row("Operating margin", self.margins()),
        ]
        for label, name in (
            ("Depreciation and amortisation", "depreciation"),
            ("Capital expenditure", "spending"),
            ("Segment assets", "assets"),
        ):
            line = self.drawn(draw, name)
            body.append(Row(label, amounts((*line, 0, sum(line)), 1)))
        corner = f"Year ended {date(day)}<br>£ million"
        heads = Heads((*self.content["names"], "Eliminations", "Group"), corner=corner, width=11)
        return statement(heads, body, size=8, leading=1.5, after=16, gap=6)


def regions(draw: Draw, now: int, then: int) -> str:
    """Revenue by destination: it adds up to the Group's external sales of both years."""
    table = content("financial_statement")["segments"]
    lines = [
        (
            label,
            tuple(
                divided(sales * draw.between(10 * low, 10 * high), 1000) for sales in (now, then)
            ),
        )
        for label, low, high in table["regions"]
    ]
    lines.append((table["rest"], less((now, then), sums(lines))))
    shares = shares_of([figures[0] for _, figures in lines])
    rows = [
        [label, *amounts(figures, 1), change(*figures), percent(share)]
        for (label, figures), share in zip(lines, shares, strict=True)
    ]
    rows.append(["Total", amount(now, 1), amount(then, 1), change(now, then), percent(1000)])
    heads = [
        "Revenue by destination (£ million)",
        date("2025"),
        date("2024"),
        "Change",
        f"% of {date('2025')}",
    ]
    look = Grid("lrrrr", size=8.5, widths=(40, 15, 15, 15, 15), bold_last=True, pad="3px 6px")
    return grid(look, heads, rows)


EQUITY_HEADS = (
    "Shares",
    "Common<br>Stock",
    "Additional<br>Paid-in<br>Capital",
    "Treasury<br>Stock",
    "Accum.<br>Other Comp.<br>Loss",
    "Retained<br>Earnings",
    "Total<br>Stockholders’<br>Equity",
)


def equity(draw: Draw) -> str:
    """A roll-forward over three years: every balance is the one before plus the movements."""
    balance: Figures = (61_420, 614, 402_318, -38_204, -9_117, 286_640)
    opening = balance_row("December 31, 2022", balance)
    body = [replace(opening, kind="section")]
    for year, dividend in ((2023, 24), (2024, 28), (2025, 31)):
        movements = equity_movements(draw, balance, dividend)
        body += [Row(label, with_total(move), indent=1) for label, move in movements]
        balance = added(balance, *(move for _, move in movements))
        body.append(balance_row(f"December 31, {year}", balance))
    return (
        heading(
            "CORRIEMONT DEVICES, INC.", "CONSOLIDATED STATEMENTS OF STOCKHOLDERS’ EQUITY", size=10
        )
        + para("(amounts and shares in thousands, except per share data)", align="center")
        + statement(Heads(EQUITY_HEADS), body, size=7.5, leading=1.75, gap=5)
        + footnotes(
            [
                (
                    "(a)",
                    f"Dividends of ${number('0.24')}, ${number('0.28')} and "
                    f"${number('0.31')} per share in "
                    f"{date('2023')}, {date('2024')} and {date('2025')}, respectively.",
                ),
                (
                    "(b)",
                    f"Under the program approved on {date('May 9, 2023')}, which expires "
                    f"after {date('three years')}.",
                ),
            ],
            7.5,
        )
    )


def equity_movements(draw: Draw, balance: Figures, dividend: int) -> list[tuple[str, Figures]]:
    """Movements of a year, columns as in the statement without the total."""
    issued, bought = draw.between(310, 780), draw.between(520, 1_140)
    paid = divided(balance[0] * dividend, 100)
    return [
        ("Net income", (0, 0, 0, 0, 0, draw.between(58_200, 79_400))),
        (
            "Other comprehensive income (loss), net of tax",
            (0, 0, 0, 0, draw.between(-2_900, 1_800), 0),
        ),
        ("Stock-based compensation", (0, 0, draw.between(11_300, 16_800), 0, 0, 0)),
        ("Shares issued under employee plans", (issued, divided(issued, 100), issued * 9, 0, 0, 0)),
        (
            "Shares withheld for taxes",
            (-divided(issued, 4), 0, -draw.between(2_100, 4_900), 0, 0, 0),
        ),
        (f"Cash dividends {mark('a')}", (0, 0, 0, 0, 0, -paid)),
        (f"Repurchases of common stock {mark('b')}", (-bought, 0, 0, -bought * 38, 0, 0)),
    ]


def with_total(line: Figures) -> tuple[str, ...]:
    """The total leaves out the first column, which counts shares."""
    return amounts((*line, sum(line[1:])))


def balance_row(day: str, balance: Figures) -> Row:
    return Row(f"Balance, {date(day)}", with_total(balance), "total", currency="$", bare=(0,))


def quarterly(draw: Draw) -> str:
    """Two years of quarters, every loss in parentheses, in small type."""
    intro = (
        "The following tables present selected unaudited quarterly results. In "
        "management’s opinion they "
        "include all adjustments, consisting only of normal recurring ones, needed for a "
        "fair statement. "
        "Losses per share are computed for each quarter separately and need not add up "
        "to the year’s loss."
    )
    years = ((2025, draw.between(61_100, 62_400)), (2024, draw.between(56_200, 57_900)))
    return (
        heading("OSTRELLE THERAPEUTICS CORP.", size=10, align="left", margin="0 0 2px")
        + heading("18. Selected Quarterly Financial Data (Unaudited)", size=8.5, align="left")
        + para(intro, size=8)
        + "".join(quarter_table(draw, year, shares) for year, shares in years)
    )


def quarter_table(draw: Draw, year: int, shares: int) -> str:
    table = content("financial_statement")["quarterly"]
    income, spent = drawn(draw, table["lines"], 4, 25), drawn(draw, table["expenses"], 4, 15)
    operating = less(sums(income), sums(spent))
    interest, finance = draw.series(2_100, 3_400, 4, 20), draw.series(-2_600, -1_900, 4, 10)
    fair_value = tuple(draw.between(-3_800, 2_900) for _ in range(4))
    net = added(operating, interest, finance, fair_value)
    weighted = tuple(shares + 310 * quarter for quarter in range(4))
    average = divided(sum(weighted), 4)
    body = [
        *(Row(label, whole_year(f), indent=1) for label, f in income),
        subtotal("Total revenue", whole_year(sums(income)), 0),
        *(Row(label, whole_year(f), indent=1) for label, f in spent),
        subtotal("Total operating expenses", whole_year(sums(spent)), 0),
        subtotal("Loss from operations", whole_year(operating), 0),
        Row("Interest income", whole_year(interest), indent=1),
        Row("Interest expense", whole_year(finance), indent=1),
        Row("Change in fair value of warrants", whole_year(fair_value), indent=1),
        total("Net loss", whole_year(net)),
        Row(
            "Net loss per share, basic and diluted",
            loss_per_share(net, weighted, average),
            currency="$",
        ),
        Row("Weighted average shares (thousands)", amounts((*weighted, average))),
    ]
    body[0] = body[0].with_currency()
    heads = Heads(
        (*(date(f"Q{quarter} {year}") for quarter in range(1, 5)), f"Full Year {date(str(year))}"),
        corner="(in thousands, except per share data)",
        width=12,
    )
    return statement(heads, body, size=7, leading=1.45, after=18, gap=8)


def whole_year(quarters: Figures) -> tuple[str, ...]:
    return amounts((*quarters, sum(quarters)))


def loss_per_share(net: Figures, weighted: Figures, average: int) -> tuple[str, ...]:
    pairs = zip((*net, sum(net)), (*weighted, average), strict=True)
    return amounts(tuple(divided(loss * 100, count) for loss, count in pairs), 2)


BUILDERS = {
    "sample-fs-04": segments,
    "sample-fs-05": equity,
    "sample-fs-06": quarterly,
}
