"""Financial legal documents of an offering: registration fees, underwriting."""

from typing import Any

from sample.generator.content import content
from sample.generator.figures import NIL, Draw, amount, divided, grouped, percent
from sample.generator.layout import footnotes, heading, mark, para, rule
from sample.generator.markup import number, plain, prose
from sample.generator.tables import Grid, grid

FEE_PER_MILLION = 13_620  # cents; the rate that the page shows


def registration(draw: Draw) -> str:
    table = content("financial_legal")["registration"]
    offset = draw.between(180_000, 640_000)
    fees, rows = fee_rows(table)
    rows.append(["Fees paid earlier", "", "", "", "", money(offset)])
    rows.append(["Net fee due", "", "", "", "", money(fees - offset)])
    look = Grid(
        "lrrrrr", rules="all", size=8.5, shade_head="#ececec", pad="4px 6px", bold_last=True
    )
    return (
        heading("Exhibit 107 (specimen)", size=9, align="right", margin="0 0 4px")
        + heading("CALCULATION OF REGISTRATION FEES", "Form S-1 · Vexley Marine Holdings, Inc.")
        + grid(look, table["heads"], rows)
        + footnotes(table["notes"], 8)
        + other_expenses(draw, fees, table)
    )


def fee_rows(table: dict[str, Any]) -> tuple[int, list[list[str]]]:
    """The sum of all fees in cents, and a row per class of security with the total below."""
    rows, offering, fees = [], 0, 0
    for place, (name, units, price) in enumerate(table["securities"], 1):
        maximum = units * price
        fee = divided(maximum * FEE_PER_MILLION, 100 * 1_000_000)
        offering, fees = offering + maximum, fees + fee
        unit = f"${number(grouped(price, 2))}" if price else NIL
        rate = prose(table["fee_rate"]) if fee else NIL
        cells = [amount(units), unit, money(maximum), rate, money(fee)]
        rows.append([prose(name) + mark(str(place)), *cells])
    rows.append(["Total", "", "", money(offering), "", money(fees)])
    return fees, rows


def money(cents: int) -> str:
    return f"${amount(cents, 2)}" if cents else NIL


def other_expenses(draw: Draw, fee: int, table: dict[str, Any]) -> str:
    """Expenses in whole dollars, the registration fee among them."""
    lines = [("Registration fee", divided(fee, 100))]
    lines += [(label, draw.between(low, high)) for label, low, high in table["expenses"]]
    rows = [[label, f"${amount(value)}"] for label, value in lines]
    rows.append(["Total", f"${amount(sum(value for _, value in lines))}"])
    name = "Other expenses of issuance and distribution"
    look = Grid("lr", size=8.5, widths=(72, 28), bold_last=True, pad="2px 6px")
    return heading(name, size=10, align="left", margin="12px 0 4px") + grid(look, [], rows)


def underwriting(draw: Draw) -> str:
    table = content("financial_legal")["underwriting"]
    sums = [sum(row[n] for row in table["underwriters"]) for n in (1, 2)]
    rows = [
        [plain(name), f"${amount(five)}", f"${amount(ten)}"]
        for name, five, ten in table["underwriters"]
    ]
    rows.append(["Total", *(f"${amount(value)}" for value in sums)])
    look = Grid("lrr", size=10, widths=(46, 27, 27), bold_last=True, pad="3px 6px")
    expenses = amount(draw.between(24, 31), 1)
    return (
        heading("UNDERWRITING", size=12)
        + para(prose(table["intro"]))
        + grid(look, [prose(head) for head in table["heads"]], rows)
        + para(prose(table["concession"]))
        + proceeds(sums, table)
        + para(prose(table["delivery"], expenses=expenses))
        + para(prose(table["lock_up"]))
        + rule()
        + para("S-31", align="center", after=0)
    )


def proceeds(principal: list[int], table: dict[str, Any]) -> str:
    """Price, discount and proceeds per note in percent, and their totals in dollars."""
    rows = []
    for label, *parts in table["prices"]:
        sums = [divided(p * part, 100_000) for p, part in zip(principal, parts, strict=True)]
        cells = [
            cell
            for part, value in zip(parts, sums, strict=True)
            for cell in (percent(part, 3), f"${amount(value)}")
        ]
        rows.append([label, *cells, f"${amount(sum(sums))}"])
    look = Grid("lrrrrr", rules="ends", size=9, widths=(27, 13, 16, 13, 16, 15), pad="3px 5px")
    return grid(look, [prose(head) for head in table["price_heads"]], rows)


BUILDERS = {
    "sample-fl-03": registration,
    "sample-fl-04": underwriting,
}
