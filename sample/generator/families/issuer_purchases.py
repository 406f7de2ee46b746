"""Securities transactions of issuers in their own shares: tender offer, repurchases."""

from typing import Any

from sample.generator.content import content
from sample.generator.figures import Draw, amount, divided, percent, ratio
from sample.generator.layout import footnotes, heading, mark, para
from sample.generator.markup import date, prose
from sample.generator.tables import Grid, grid

WITHHELD = 3_812  # shares bought in May outside the repurchase program


def tender(draw: Draw) -> str:
    """Final results of an auction tender.

    The lowest price at which enough shares were tendered is paid for all; the proration factor
    distributes the shares left after odd lots among the other holders.
    """
    table = content("securities_transaction")["tender"]
    lots = [(price, draw.between(low, high)) for price, low, high in table["prices"]]
    offered, outstanding = 6_000_000, 58_412_906
    price, tendered = clearing(lots, offered)
    odd = draw.between(41_000, 56_000)
    values = {
        "offered": amount(offered),
        "tendered": amount(tendered),
        "price": amount(price, 2),
        "guaranteed": amount(draw.between(310_000, 420_000)),
        "cost": amount(offered * price, 2),
        "odd": amount(odd),
        "factor": percent(ratio(offered - odd, tendered - odd, 2), 2),
        "part": percent(ratio(offered, outstanding)),
        "outstanding": amount(outstanding),
        "left": amount(outstanding - offered),
    }
    offer, count, result, payment = (
        para(prose(table[name], **values)) for name in ("offer", "count", "result", "payment")
    )
    title = heading("ASHQUILL PAPER CO. ANNOUNCES FINAL RESULTS<br>OF ITS TENDER OFFER", size=12)
    return title + offer + count + tender_table(table["heads"], lots) + result + payment


def clearing(lots: list[tuple[int, int]], offered: int) -> tuple[int, int]:
    """The purchase price and the shares tendered at or below it; `lots` rise in price."""
    running = 0
    for price, shares in lots:
        running += shares
        if running >= offered:
            return price, running
    raise ValueError(f"only {running} of {offered} shares were tendered")


def tender_table(heads: list[str], lots: list[tuple[int, int]]) -> str:
    rows, running = [], 0
    whole = sum(shares for _, shares in lots)
    for price, shares in lots:
        running += shares
        share = percent(ratio(running, whole))
        rows.append([f"${amount(price, 2)}", amount(shares), amount(running), share])
    look = Grid("rrrr", rules="ends", size=9.5, widths=(16, 30, 32, 22), pad="3px 10px")
    return grid(look, heads, rows)


def repurchases(draw: Draw) -> str:
    """Monthly purchases: the average price is weighted by shares, the authorization runs down."""
    table = content("securities_transaction")["repurchases"]
    arrangements = "Item 5. Trading arrangements of directors and officers"
    return (
        heading("PART II – OTHER INFORMATION", size=11)
        + heading("Item 2. Issuer Purchases of Equity Securities", size=10, align="left")
        + para(prose(table["program"]))
        + monthly(draw, table)
        + footnotes(table["notes"], 8, withheld=amount(WITHHELD))
        + heading(arrangements, size=10, align="left", margin="14px 0 8px")
        + para(prose(table["arrangements"]))
        + plans(table)
    )


def monthly(draw: Draw, table: dict[str, Any]) -> str:
    left = 15_000_000_000  # cents
    rows, bought, paid = [], 0, 0
    for first, last, low, high, cheap, dear in table["months"]:
        shares, price = draw.between(low, high), draw.between(cheap, dear)
        program = shares - WITHHELD if first.startswith("May") else shares
        bought, paid, left = bought + shares, paid + shares * price, left - program * price
        still = f"${amount(divided(left, 100_000))}"
        cells = [amount(shares), f"${amount(price, 2)}", amount(program), still]
        rows.append([f"{date(first)} – {date(last)}", *cells])
    average = f"${amount(divided(paid, bought), 2)}"
    rows.append(["Total", amount(bought), average, amount(bought - WITHHELD), ""])
    period, purchased, price_head, *others = table["heads"]
    heads = [period, purchased + mark("a"), price_head + mark("b"), *others]
    look = Grid("lrrrr", size=9, widths=(33, 15, 16, 18, 18), bold_last=True, pad="3px 6px")
    return grid(look, heads, rows)


def plans(table: dict[str, Any]) -> str:
    rows = [
        [name, title, date(adopted), date(ends), amount(shares)]
        for name, title, adopted, ends, shares in table["plans"]
    ]
    return grid(Grid("llllr", size=9, pad="3px 6px"), table["plan_heads"], rows)


BUILDERS = {
    "sample-st-03": tender,
    "sample-st-06": repurchases,
}
