"""Securities transactions of owners: changes in ownership, a manager’s holdings."""

from dataclasses import replace
from typing import Any

from sample.generator.content import content
from sample.generator.figures import Draw, amount, divided
from sample.generator.forms import Box, boxes, form_head
from sample.generator.layout import footnotes, heading, mark, para
from sample.generator.markup import date, number, plain, prose
from sample.generator.tables import Grid, grid

FORM_GRID = Grid("", rules="all", size=7.5, shade_head="#ececec", pad="2px 4px")


def insider(draw: Draw) -> str:
    """Form S-T: every row's holding is the one above plus or minus the row's shares."""
    table = content("securities_transaction")["insider"]
    owner = [
        [
            Box("1. Reporting person", "Ashpole, Cordelia M.", 36),
            Box("2. Issuer and symbol (fictitious)", "Quillhaven Instruments, Inc. [QLHVX]", 40),
            Box("3. Earliest transaction", date("05/11/2026"), 24),
        ],
        [
            Box("Address", "1 Specimen Way, Sampleton"),
            Box("4. Relationship", f"☒ Director &nbsp; ☒ Officer &nbsp; ☐ {number('10%')} owner"),
            Box("5. Amendment of a form filed", date("05/13/2026")),
        ],
    ]
    signed = [
        Box("Signed (specimen)", "/s/ C. M. Ashpole, by B. Sample as attorney", 70),
        Box("Date", date("05/14/2026"), 30),
    ]
    return (
        form_head(
            "S-T",
            "Statement of Changes in Ownership",
            "Table I: shares &nbsp;·&nbsp; Table II: options and units",
            "<b>Specimen<br>filing</b>",
            "Securities",
        )
        + boxes(owner, 8.5, 8)
        + para("<b>Table I – Shares acquired, disposed of or owned</b>", size=8.5, after=3)
        + trades(draw, table)
        + para("<b>Table II – Options and units</b>", size=8.5, after=3)
        + derivatives(draw, table)
        + para("<b>Explanation of responses:</b>", size=8, after=2)
        + footnotes(table["notes"], 7.5)
        + boxes([signed], 8.5)
    )


def trades(draw: Draw, table: dict[str, Any]) -> str:
    owned = draw.between(311_000, 348_000)
    rows = []
    for title, day, code, shares, side, price, note in table["trades"]:
        owned += shares if side == "A" else -shares
        cost = f"${amount(price, 4)}{mark(note) if note else ''}" if price else f"${number('0')}"
        rows.append([title, date(day), code, amount(shares), side, cost, amount(owned), "D", ""])
    trust = amount(draw.between(18_000, 26_000))
    rows.append(["Common Stock", *[""] * 5, trust, "I", "By family trust"])
    return grid(replace(FORM_GRID, align="lccrcrrcl"), table["heads"], rows)


def derivatives(draw: Draw, table: dict[str, Any]) -> str:
    left = amount(draw.between(36_000, 48_000))
    rows = [[prose(cell, left=left, mark=mark("4")) for cell in row] for row in table["units"]]
    return grid(replace(FORM_GRID, align="lrccrccrr"), table["unit_heads"], rows)


def holdings(draw: Draw) -> str:
    """Report H-13: the voting authority of a row adds up to its shares; values add up below."""
    table = content("securities_transaction")["holdings"]
    rows, values = [], 0
    for place, (name, kind, low, high, price) in enumerate(table["positions"], 1):
        shares = draw.between(low, high)
        value = divided(shares * price, 100)
        values += value
        code = f"X{place:05d}{10 + place * 7 % 90}"
        rows.append([plain(name), kind, code, amount(value), *authority(draw, shares)])
    entries = number(str(len(rows)))
    rows.append(["Total value", "", "", amount(values), *([""] * 6)])
    look = Grid("lllrrccrrr", size=7, leading=1.15, pad="1.6px 4px", bold_last=True)
    title = "Report H-13 (specimen): information table"
    return (
        heading(title, size=10, align="left", margin="0 0 2px")
        + para(prose(table["about"], entries=entries), size=8, align="left")
        + grid(look, table["heads"], rows)
    )


def authority(draw: Draw, shares: int) -> list[str]:
    """Cells from the number of shares on: kind, discretion, and who may vote how many of them."""
    shared = draw.between(0, 2) * draw.between(4_000, 21_000)
    none = draw.between(0, 1) * draw.between(900, 9_000)
    votes = (amount(count) for count in (shares - shared - none, shared, none))
    return [amount(shares), "SH", "DFND" if shared else "SOLE", *votes]


BUILDERS = {
    "sample-st-01": insider,
    "sample-st-02": holdings,
}
