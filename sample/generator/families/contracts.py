"""Financial legal documents: indenture and credit agreement."""

from typing import Any

from sample.generator.content import content
from sample.generator.figures import Draw, amount, percent, shares_of
from sample.generator.layout import footnotes, heading, para
from sample.generator.markup import number, prose
from sample.generator.tables import Grid, grid


def indenture(draw: Draw) -> str:
    table = content("financial_legal")["indenture"]
    principal = amount(draw.between(7, 9) * 50_000_000)
    return (
        para("SALLOWMERE HOTELS, INC. – INDENTURE (SPECIMEN)", align="right", size=8)
        + heading("ARTICLE THREE<br>REDEMPTION OF NOTES", size=11)
        + "".join(section(*clause, principal=principal) for clause in table["before"])
        + redemption_prices(table)
        + "".join(section(*clause) for clause in table["after"])
        + para("24", align="center", after=0)
    )


def section(mark: str, title: str, text: str, **values: str) -> str:
    """A numbered section of a contract; its number is not a fact."""
    return para(f"Section {mark} &nbsp; <u>{title}</u>. {prose(text, **values)}", indent=36)


def redemption_prices(table: dict[str, Any]) -> str:
    rows = [[prose(year), percent(price, 3)] for year, price in table["redemption"]]
    look = Grid("lr", rules="ends", size=10, widths=(70, 30), pad="2px 14px")
    heads = [prose(head) for head in table["heads"]]
    return f'<div style="padding:0 150px">\n{grid(look, heads, rows)}</div>\n'


def credit_agreement(draw: Draw) -> str:
    table = content("financial_legal")["credit"]
    limit = amount(draw.between(3, 5) * 5_000_000)
    return (
        para(prose(table["dated"]), align="right", size=9)
        + heading("ARTICLE I – DEFINITIONS", size=10.5)
        + para(prose(table["margin"]))
        + pricing(table)
        + para(prose(table["base_rate"]))
        + para(prose(table["maturity"]))
        + heading("SCHEDULE 2.01 – COMMITMENTS", size=10.5, margin="12px 0 6px")
        + commitments(table)
        + footnotes([("*", table["swingline"])], 8, limit=limit)
    )


def pricing(table: dict[str, Any]) -> str:
    """The pricing grid: each level begins at the end of the previous one."""
    rows, lower = [], 0
    for level, upper, *rates in table["grid"]:
        rows.append([level, leverage(lower, upper), *(percent(rate, 3) for rate in rates)])
        lower = upper
    look = Grid(
        "clccc",
        rules="all",
        size=9,
        widths=(9, 41, 17, 17, 16),
        shade_head="#e6e6e6",
        pad="3px 6px",
    )
    return grid(look, table["grid_heads"], rows)


def leverage(lower: int, upper: int) -> str:
    low, high = (f"{amount(bound, 2)} to {number('1.00')}" for bound in (lower, upper))
    if not lower:
        return f"Less than {high}"
    return f"At least {low}" + (f", but less than {high}" if upper else "")


def commitments(table: dict[str, Any]) -> str:
    lenders = table["commitments"]
    shares = shares_of([revolving + term for _, revolving, term in lenders], 6)
    rows = [
        [name, f"${amount(revolving)}", f"${amount(term)}", percent(share, 6)]
        for (name, revolving, term), share in zip(lenders, shares, strict=True)
    ]
    sums = [sum(lender[n] for lender in lenders) for n in (1, 2)]
    rows.append(["Total", f"${amount(sums[0])}", f"${amount(sums[1])}", number("100.000000%")])
    look = Grid("lrrr", size=9, widths=(37, 22, 21, 20), bold_last=True, pad="3px 6px")
    return grid(look, table["lender_heads"], rows)


BUILDERS = {
    "sample-fl-01": indenture,
    "sample-fl-02": credit_agreement,
}
