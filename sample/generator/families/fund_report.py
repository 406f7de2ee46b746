"""Supplemental reports of funds: performance and fees, schedule of investments."""

from typing import Any

from sample.generator.content import content
from sample.generator.figures import (
    NIL,
    Draw,
    Figures,
    added,
    amount,
    divided,
    percent,
    ratio,
    signed_percent,
)
from sample.generator.layout import columns, footnotes, heading, para
from sample.generator.markup import date, plain, prose, table, td, tr
from sample.generator.tables import Grid, grid

CLASSES = ("Investor", "Institutional", "Class A", "Class R")


def performance(draw: Draw) -> str:
    table = content("supplemental_report")["performance"]
    best = signed_percent(draw.between(1710, 2240))
    worst = signed_percent(-draw.between(1820, 2360))
    return (
        heading("Pellagrove Mid Cap Fund", size=13, align="left", margin="0 0 8px")
        + heading("Fees and expenses of the fund", size=10, align="left", margin="0 0 4px")
        + fees(table["fees"])
        + title("Example")
        + para(prose(table["example"]))
        + example([total_fees(table["fees"], n) for n in range(len(CLASSES))])
        + title("Past performance")
        + para(prose(table["past"], best=best, worst=worst))
        + calendar(table["calendar_years"])
        + returns(table)
        + footnotes(table["waiver"], 7.5)
    )


def title(text: str) -> str:
    return heading(text, size=10, align="left", margin="4px 0 4px")


def total_fees(lines: list[tuple[str, list[int]]], column: int) -> int:
    return sum(values[column] for _, values in lines)


def fees(lines: list[tuple[str, list[int]]]) -> str:
    """Hundredths of a percent; the waiver caps the total, and the last row is the remainder."""
    totals = [total_fees(lines, n) for n in range(len(CLASSES))]
    waived = [-7, -4, -7, -9]
    rows = [
        [label, *(signed_percent(v) if v else "None" for v in values)] for label, values in lines
    ]
    rows.append(["<b>Total annual fund operating expenses</b>", *map(signed_percent, totals)])
    rows.append(["Fee waiver and reimbursement*", *map(signed_percent, waived)])
    rows.append(
        ["Total expenses after waiver", *map(signed_percent, added(tuple(totals), tuple(waived)))]
    )
    return grid(
        Grid("lrrrr", size=9, widths=(44, 14, 14, 14, 14), bold_last=True), ["", *CLASSES], rows
    )


def cost(rate: int, years: int) -> int:
    """Expenses on $10,000 that grow by 5 % less `rate` (hundredths of a percent) every year."""
    worth, paid = 10_000_00, 0
    for _ in range(years):
        grown = divided(worth * (10_500 - rate), 10_000)
        paid += divided((worth + grown) * rate, 20_000)
        worth = grown
    return divided(paid, 100)


def example(rates: list[int]) -> str:
    terms = {1: "1 year", 3: "3 years", 5: "5 years", 10: "10 years"}
    rows = [
        [name, *(f"${amount(cost(rate, years))}" for years in terms)]
        for name, rate in zip(CLASSES, rates, strict=True)
    ]
    heads = ["", *(date(term) for term in terms.values())]
    return grid(Grid("lrrrr", size=9, widths=(44, 14, 14, 14, 14)), heads, rows)


def calendar(years: list[tuple[str, int]]) -> str:
    """Ten calendar years across: a year over its return."""
    look = Grid("c" * len(years), rules="ends", size=8, pad="3px 2px")
    return grid(
        look, [date(year) for year, _ in years], [[signed_percent(value) for _, value in years]]
    )


def returns(table: dict[str, Any]) -> str:
    rows = []
    for label, *values, began in table["classes"]:
        rows.append([label, *map(signed_percent, values), date(began)])
    for label, *values in table["indexes"]:
        name = f"{label} (reflects no fees, expenses or taxes)"
        rows.append([name, *map(signed_percent, values), NIL])
    look = Grid("lrrrr", size=8.5, widths=(50, 12, 12, 12, 14))
    return grid(look, [prose(head) for head in table["return_heads"]], rows)


SECTOR = "padding-top:5px;font-weight:bold;text-align:left"
RIGHT = "text-align:right"
HELD = f"{RIGHT};padding-right:16px"
SUM = f"{RIGHT};border-top:1px solid #000000"


def holdings(draw: Draw) -> str:
    """Common stocks and bonds in two columns of small type; percentages are of net assets."""
    tables = content("supplemental_report")["holdings"]
    sectors = [
        (name, [position(draw, *line) for line in lines]) for name, lines in tables["equities"]
    ]
    bonds = [bond_position(draw, *line) for line in tables["bonds"]]
    stocks = sum(value for _, lines in sectors for *_, value in lines)
    debt = sum(value for *_, value in bonds)
    other = draw.between(182_000, 316_000)
    net = stocks + debt + other
    parts = [sector(name, lines, net) for name, lines in sectors]
    left = listing("Common stocks", "Shares", parts[:4])
    right = (
        listing("Common stocks", "Shares", parts[4:])
        + listing("Corporate bonds", "Principal", [sector("Fixed rate", bonds, net)])
        + listing("Summary", "Value ($)", [summary(stocks, debt, other, net)])
    )
    day = date("March 31, 2026")
    return (
        heading("Dunmirrow Balanced Fund", size=11, align="left", margin="0 0 2px")
        + heading(f"Schedule of investments – {day} (unaudited)", size=8.5, align="left")
        + columns(left, right, gap=32)
        + footnotes(tables["notes"], 7, net=amount(net))
    )


Position = tuple[str, str, int]


def position(draw: Draw, name: str, low: int, high: int, price: int) -> Position:
    shares = draw.between(low, high)
    return plain(name), amount(shares), divided(shares * price, 100)


def bond_position(
    draw: Draw, name: str, rate: int, matures: str, price: int, low: int, high: int
) -> Position:
    face = draw.between(low, high) * 1000
    label = f"{plain(name)}, {percent(rate, 3)}, {date(matures)}"
    return label, f"${amount(face)}", divided(face * price, 10_000)


def sector(name: str, lines: list[Position], net: int) -> str:
    value = sum(line[2] for line in lines)
    share = percent(ratio(value, net))
    head = tr([td(f"{name} – {share}", SECTOR, 3)])
    body = [
        tr(
            [
                td(label, "padding-left:8px;text-indent:-8px"),
                td(held, HELD),
                td(amount(worth), RIGHT),
            ]
        )
        for label, held, worth in lines
    ]
    return "".join([head, *body, tr([td("", "", 2), td(amount(value), SUM)])])


def listing(title: str, quantity: str, parts: list[str]) -> str:
    edge = "border-bottom:1px solid #000000;font-weight:bold"
    value = "% of net (b)" if quantity == "Value ($)" else "Value ($)"
    head = tr(
        [
            td(title, f"{edge};width:58%"),
            td(quantity, f"{edge};{HELD}"),
            td(value, f"{edge};{RIGHT}"),
        ]
    )
    return table(
        [head, *parts],
        "width:100%;margin:0 0 10px;font-size:7pt;line-height:1.35;vertical-align:bottom",
    )


def summary(stocks: int, debt: int, other: int, net: int) -> str:
    lines = (
        ("Common stocks", stocks),
        ("Corporate bonds", debt),
        ("Other assets less liabilities", other),
        ("Net assets", net),
    )
    values: Figures = (ratio(stocks, net), ratio(debt, net))
    shares = (*values, 1000 - sum(values), 1000)
    return "".join(
        tr([td(label), td(amount(value), HELD), td(percent(part), RIGHT)])
        for (label, value), part in zip(lines, shares, strict=True)
    )


BUILDERS = {"sample-sr-03": performance, "sample-sr-05": holdings}
