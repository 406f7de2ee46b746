"""Fictional schedules to tax forms: depreciation, sales of securities, partner's share."""

from sample.generator.content import content
from sample.generator.families.tax_form import line, tax_year
from sample.generator.figures import Draw, Figures, added, amount, divided, percent, signed
from sample.generator.forms import Box, FormLine, boxes, form_head, lines, part
from sample.generator.layout import columns, para
from sample.generator.markup import date, number, prose
from sample.generator.tables import Grid, grid


def depreciation(draw: Draw) -> str:
    """Form 4-D: straight-line over the months of use, rounded to whole dollars."""
    table = content("tax_form")["depreciation"]
    assets = [depreciated(*asset) for asset in table["assets"]]
    cost, basis, deduction = added(*(figures for _, figures in assets))
    rows = [cells for cells, _ in assets]
    rows.append(["Totals", "", signed(cost), "", signed(basis), "", "", signed(deduction)])
    look = Grid("lcrrrccr", rules="all", size=8, shade_head="#ececec", pad="2px 4px", after=4)
    return (
        form_head("4-D", "Depreciation Schedule", "Attach to the business return", tax_year("2025"))
        + boxes([named("Zephyrine Glassworks, Inc.", "Number (fictitious)", "00-0000000")])
        + part("I", "Property placed in service during the year")
        + para(table["method"], size=7.5, after=3)
        + grid(look, table["heads"], rows)
        + part("II", "Summary")
        + lines(depreciation_lines(draw, deduction))
        + part("III", "Listed property")
        + listed(draw)
    )


def named(name: str, caption: str, identifier: str) -> list[Box]:
    return [Box("Name", name, 60), Box(caption, identifier, 40)]


def depreciation_lines(draw: Draw, deduction: int) -> list[FormLine]:
    election, earlier = draw.between(21_000, 38_000), draw.between(96_000, 131_000)
    before = f"Deduction for property placed in service before {date('January 1, 2025')}"
    return [
        line("15", "Expense election from the worksheet", election),
        line("16", before, earlier),
        line("17", "Deduction for the year. Add column (h)", deduction),
        line("18", "Total. Add lines 15 through 17", election + earlier + deduction, bold=True),
    ]


def depreciated(
    name: str, placed: str, cost: int, use: int, years: int, method: str
) -> tuple[list[str], Figures]:
    basis = divided(cost * use, 100)
    months = 13 - int(placed[:2])
    deduction = divided(basis * months, years * 12)
    cells = [
        prose(name),
        date(placed),
        signed(cost),
        number(f"{use}%"),
        signed(basis),
        date(f"{years} years"),
        method,
        signed(deduction),
    ]
    return cells, (cost, basis, deduction)


def listed(draw: Draw) -> str:
    """Miles of each van; the total is the sum of both kinds."""
    rows = []
    for van in ("A", "B", "C", "D"):
        business, commuting = draw.between(14_200, 21_900), draw.between(600, 2_900)
        share = divided(business * 1000, business + commuting)
        miles = (signed(count) for count in (business, commuting, business + commuting))
        rows.append([f"Van {van}", *miles, percent(share)])
    heads = ["Vehicle", "Business miles", "Other miles", "Total miles", "Business use"]
    return grid(
        Grid("lrrrr", rules="all", size=8, shade_head="#ececec", pad="2px 8px"), heads, rows
    )


def sales(draw: Draw) -> str:
    """Form 8-D: sales of securities in cents, gains with a minus sign when they are losses."""
    table = content("tax_form")["sales"]
    short, long = ([sold(draw, *row) for row in table[name]] for name in ("short", "long"))
    sums = [added(*(figures for _, figures in group)) for group in (short, long)]
    gains = [figures[3] for figures in sums]
    carried = -draw.between(104_000, 188_000)
    summary = [
        cents("7", "Short-term gain or loss from Part I, column (h)", gains[0]),
        cents("8", "Long-term gain or loss from Part II, column (h)", gains[1]),
        cents("9", f"Loss carried over from {date('2024')}", carried),
        cents("10", "Net gain or loss. Add lines 7 through 9", sum(gains) + carried, bold=True),
    ]
    return (
        form_head("8-D", "Sales of Securities", "Attach to Form 1-S", tax_year("2025"))
        + boxes([named("Barnaby Q. Sample", "Taxpayer number (fictitious)", "000-00-0000")])
        + part("I", f"Held {date('one year')} or less")
        + sale_table(table["heads"], [cells for cells, _ in short], sums[0])
        + part("II", f"Held more than {date('one year')}")
        + sale_table(table["heads"], [cells for cells, _ in long], sums[1])
        + part("III", "Summary")
        + lines(summary)
        + para(table["note"], size=7.5)
    )


def cents(mark: str, text: str, value: int, bold: bool = False) -> FormLine:
    return FormLine(mark, text, (signed(value, 2),), bold)


def sold(
    draw: Draw, name: str, shares: int, bought: str, sold_on: str, paid: int, price: int
) -> tuple[list[str], Figures]:
    """Cells and (proceeds, cost, adjustment, gain); `paid` and `price` are cents per share."""
    proceeds, cost = (
        shares * price - draw.between(495, 1_495),
        shares * paid + draw.between(495, 1_495),
    )
    adjustment = draw.between(0, 1) * draw.between(1_200, 9_900)
    gain = proceeds - cost + adjustment
    figures = (proceeds, cost, adjustment, gain)
    money = [signed(value, 2) if value else "" for value in figures]
    return [f"{signed(shares)} sh. {name}", date(bought), date(sold_on), *money], figures


def sale_table(heads: list[str], rows: list[list[str]], sums: Figures) -> str:
    total = ["Totals", "", "", *(signed(value, 2) if value else "" for value in sums)]
    look = Grid(
        "lccrrrr",
        rules="all",
        size=7.5,
        shade_head="#ececec",
        pad="2px 4px",
        bold_last=True,
        after=6,
    )
    return grid(look, heads, [*rows, total])


def partner(draw: Draw) -> str:
    """Form K-S: who the partner is on the left, the partner's share of each item on the right."""
    items = [
        (mark, text, draw.between(low, high))
        for mark, text, low, high in content("tax_form")["partner"]["items"]
    ]
    signs = {"12": -1, "13": -1}
    net = sum(value * signs.get(mark, 1) for mark, _, value in items)
    rows = [[mark, text, amount(value) if value else ""] for mark, text, value in items]
    rows.append(["14", "Net of lines 1 through 11 less lines 12 and 13", amount(net)])
    look = Grid("llr", rules="all", size=8, widths=(9, 61, 30), pad="3px 5px", bold_last=True)
    right = para("<b>Partner’s share of current year items</b>", size=9, after=4)
    right += grid(look, [], rows) + liabilities(draw)
    year = f"For the year ended {date('September 30, 2025')}"
    return (
        form_head("K-S", "Partner’s Share of Income", year, tax_year("2025"))
        + columns(partner_identity() + shares() + capital_account(draw, net), right, gap=20)
        + para(prose(content("tax_form")["partner"]["note"]), size=7.5)
    )


def partner_identity() -> str:
    return boxes(
        [
            [Box("A Partnership", "Hollowell Orchards L.P.<br>Route 0, Sampleton")],
            [Box("B Partnership number (fictitious)", "00-0000000")],
            [Box("C Partner", "Ambrose T. Pennyfeather")],
            [Box("D Kind of partner", "☒ General &nbsp; ☐ Limited")],
            [Box("E Share fixed by the agreement", number("1/3"))],
            [Box("F Partner since", date("October 1, 2014"))],
        ],
        8.5,
        6,
    )


def shares() -> str:
    rows = [
        ["Profit", number("31.2500%"), number("33.3333%")],
        ["Loss", number("31.2500%"), number("33.3333%")],
        ["Capital", number("29.8750%"), number("32.1200%")],
    ]
    look = Grid("lrr", rules="all", size=8, shade_head="#ececec", pad="2px 6px")
    return grid(look, ["G Share", "Beginning", "Ending"], rows)


def liabilities(draw: Draw) -> str:
    rows = [
        [name, *(amount(draw.between(low, high)) for _ in range(2))]
        for name, low, high in (("Recourse", 41_000, 63_000), ("Nonrecourse", 118_000, 156_000))
    ]
    look = Grid("lrr", rules="all", size=8, shade_head="#ececec", pad="3px 6px")
    return grid(look, ["I Share of liabilities", "Beginning", "Ending"], rows)


def capital_account(draw: Draw, net: int) -> str:
    """Opening capital plus contributions and income less withdrawals gives closing capital."""
    opening, paid_in, drawn = (
        draw.between(*r) for r in ((214_000, 268_000), (10_000, 25_000), (48_000, 71_000))
    )
    rows = [
        ["Beginning capital account", amount(opening)],
        ["Capital contributed", amount(paid_in)],
        ["Current year net income (line 14)", amount(net)],
        ["Withdrawals and distributions", amount(-drawn)],
        ["Ending capital account", amount(opening + paid_in + net - drawn)],
    ]
    look = Grid("lr", rules="all", size=8, shade_head="#ececec", pad="2px 6px", bold_last=True)
    return grid(look, ["H Capital account", "$"], rows)


BUILDERS = {
    "sample-tf-04": depreciation,
    "sample-tf-05": sales,
    "sample-tf-06": partner,
}
