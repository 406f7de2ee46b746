"""Securities transactions: terms of warrants, a broker’s confirmation of bond and share trades."""

from decimal import Decimal

from sample.generator.content import content
from sample.generator.figures import Draw, amount, divided, grouped, percent
from sample.generator.layout import columns, footnotes, heading, para
from sample.generator.markup import date, number, plain, prose
from sample.generator.tables import Grid, grid


def warrants(draw: Draw) -> str:
    table = content("securities_transaction")["warrants"]
    count = amount(draw.between(172, 208) * 62_500)
    terms = [[name, prose(text, count=count)] for name, text in table["terms"]]
    return (
        heading("GALEWRIGHT POWER CORP.", size=11, margin="0 0 2px")
        + heading("Summary of terms – public warrants", size=10)
        + grid(Grid("ll", size=9, widths=(24, 76), pad="3px 6px"), [], terms)
        + para(prose(table["intro"]), size=8.5)
        + redemption(table["months"], table["values"])
        + para(prose(table["cap"]), size=8.5)
    )


def redemption(periods: list[int], values: list[int]) -> str:
    """Months to expiration down, fair market value across, shares per warrant in thousandths."""
    rows = [
        [
            date(f"{months} months"),
            *(amount(shares_per_warrant(months, value), 3) for value in values),
        ]
        for months in periods
    ]
    heads = ["Period to expiration", *(f"${amount(value, 2)}" for value in values)]
    align = "l" + "r" * len(values)
    return grid(Grid(align, rules="ends", size=8, leading=1.15, pad="1.5px 6px"), heads, rows)


def shares_per_warrant(months: int, value: int) -> int:
    """A fictional rule: the exercise value plus a time value that falls with the root of time."""
    cap = 361
    intrinsic = max(0, divided(1000 * (value - 1150), value))
    full = 257 + divided((cap - 257) * (value - 1000), 800)
    decay = (Decimal(months) / Decimal(57)).sqrt()
    return min(cap, intrinsic + int((full - intrinsic) * decay))


TRADES = Grid("llrrrrrr", size=7.5, widths=(6, 34, 9, 8, 12, 11, 9, 11), pad="3px 4px")


def confirmation(draw: Draw) -> str:
    table = content("securities_transaction")["confirmation"]
    bonds = [bond_trade(*row) for row in table["bonds"]]
    shares = [share_trade(draw, *row) for row in table["shares"]]
    bond_net, share_net = (sum(net for _, net in group) for group in (bonds, shares))
    opening = draw.between(148_000_000, 171_000_000)
    account = [
        ["Opening cash balance", f"${amount(opening, 2)}"],
        ["Bond trades, net", amount(bond_net, 2)],
        ["Share trades, net", amount(share_net, 2)],
        ["Closing cash balance", f"${amount(opening + bond_net + share_net, 2)}"],
    ]
    client = [[name, prose(text)] for name, text in table["client"]]
    look = Grid("lr", size=8.5, bold_last=True, pad="3px 6px")
    return (
        heading(plain("PENNYROYAL & WREN, BROKERS"), size=13, align="left", margin="0 0 2px")
        + heading("Confirmation of trades", size=10, align="left")
        + columns(grid(Grid("ll", size=8.5, pad="3px 6px"), [], client), grid(look, [], account))
        + heading("Bonds", size=9.5, align="left", margin="4px 0 3px")
        + grid(TRADES, table["bond_heads"], [cells for cells, _ in bonds])
        + heading("Shares", size=9.5, align="left", margin="4px 0 3px")
        + grid(TRADES, table["share_heads"], [cells for cells, _ in shares])
        + footnotes(table["notes"], 7.5)
    )


def fraction(thirty_seconds: int) -> str:
    """A bond price in 32nds as brokers quote it: 3236 is `101 1/8`."""
    whole, rest = divmod(thirty_seconds, 32)
    bottom = 32
    while rest and rest % 2 == 0:
        rest, bottom = rest // 2, bottom // 2
    return number(f"{whole} {rest}/{bottom}" if rest else str(whole))


def bond_trade(
    side: str, name: str, coupon: int, matures: str, face: int, price: int, days: int, settles: str
) -> tuple[list[str], int]:
    """Cells and the net amount in cents, negative when the account pays."""
    principal = divided(face * price, 32)
    accrued = divided(face * coupon * days, 360_000)
    net = (principal + accrued) * (-1 if side == "Bought" else 1)
    cells = [
        side,
        f"{name}, {percent(coupon, 3)}, {date(matures)}",
        f"${amount(face)}",
        fraction(price),
        amount(principal, 2),
        amount(accrued, 2),
        date(settles),
        amount(net, 2),
    ]
    return cells, net


def share_trade(
    draw: Draw, side: str, name: str, count: int, price: int, settles: str
) -> tuple[list[str], int]:
    principal, commission = count * price, draw.between(1_250, 4_950)
    net = -(principal + commission) if side == "Bought" else principal - commission
    cells = [
        side,
        name,
        amount(count),
        f"${number(grouped(price, 2))}",
        amount(principal, 2),
        amount(commission, 2),
        date(settles),
        amount(net, 2),
    ]
    return cells, net


BUILDERS = {"sample-st-04": warrants, "sample-st-05": confirmation}
