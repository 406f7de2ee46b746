"""Financial statements: balance sheet, income statement, cash flows."""

from sample.generator.content import content
from sample.generator.figures import (
    Draw,
    Figures,
    added,
    amount,
    amounts,
    divided,
    less,
    percent,
    ratio,
)
from sample.generator.layout import heading, para
from sample.generator.lines import Line, drawn, rows, sums
from sample.generator.markup import date, number
from sample.generator.tables import Heads, Row, items, section, statement, subtotal, total


def balance_sheet(draw: Draw) -> str:
    table = content("financial_statement")["balance_sheet"]
    current = drawn(draw, table["current_assets"], 2)
    current.insert(2, receivables(draw))
    other = drawn(draw, table["other_assets"], 2, 6)
    owed = drawn(draw, table["current_liabilities"], 2)
    later = drawn(draw, table["other_liabilities"], 2, 8)
    assets, liabilities = added(sums(current), sums(other)), added(sums(owed), sums(later))
    equity = equity_lines(draw, less(assets, liabilities))
    refs = table["notes"]
    body = [
        section("ASSETS"),
        section("Current assets:"),
        *rows(current, refs),
        subtotal("Total current assets", amounts(sums(current))),
        *rows(other, refs),
        total("Total assets", amounts(assets)),
        section("LIABILITIES AND STOCKHOLDERS’ EQUITY"),
        section("Current liabilities:"),
        *rows(owed, refs),
        subtotal("Total current liabilities", amounts(sums(owed))),
        *rows(later, refs),
        subtotal("Total liabilities", amounts(liabilities)),
        Row("Commitments and contingencies", note="14"),
        section("Stockholders’ equity:"),
        *rows(equity),
        subtotal("Total stockholders’ equity", amounts(sums(equity))),
        total(
            "Total liabilities and stockholders’ equity", amounts(added(liabilities, sums(equity)))
        ),
    ]
    body[2] = body[2].with_currency()
    heads = Heads((date("December 31, 2025"), date("December 31, 2024")), note="Note")
    return (
        heading("QUILLHAVEN INSTRUMENTS, INC. AND SUBSIDIARIES", "CONSOLIDATED BALANCE SHEETS")
        + para("<i>(in thousands, except share and per share amounts)</i>", align="center")
        + statement(heads, body, size=9.5, leading=1.32)
        + para(
            "<i>See accompanying notes to consolidated financial statements.</i>", align="center"
        )
    )


def receivables(draw: Draw) -> Line:
    """Accounts receivable: the allowances are facts inside the label."""
    this, last = draw.series(1100, 1400, 2)
    label = f"Accounts receivable, net of allowances of ${amount(this)} and ${amount(last)}"
    return label, draw.series(204600, 238300, 2)


def equity_lines(draw: Draw, equity: Figures) -> list[Line]:
    """Equity by component; retained earnings are the remainder, so that the sheet balances."""
    par = (842, 839)
    paid_in, other = draw.series(241300, 262700, 2, 3), draw.series(-19400, -12200, 2)
    treasury = draw.series(-88700, -61300, 2, 10)
    authorized, issued, before = number("120,000,000"), number("84,211,930"), number("83,904,117")
    label = (
        f"Common stock, ${number('0.01')} par value; {authorized} shares authorized; "
        f"{issued} and {before} shares issued"
    )
    shares, shares_before = draw.series(2040000, 2390000, 2, 6)
    return [
        (label, par),
        ("Additional paid-in capital", paid_in),
        ("Retained earnings", less(equity, par, paid_in, other, treasury)),
        ("Accumulated other comprehensive loss", other),
        (f"Treasury stock, at cost; {amount(shares)} and {amount(shares_before)} shares", treasury),
    ]


def income_statement(draw: Draw) -> str:
    """Net income and per-share figures follow from the lines above them."""
    sales = draw.series(2_840_000, 2_960_000, 3, 7)
    cost = tuple(divided(value * draw.between(578, 604), 1000) for value in sales)
    gross = less(sales, cost)
    costs = drawn(draw, content("financial_statement")["income_statement"]["costs"], 3)
    operating = less(gross, sums(costs))
    interest, other = draw.series(-41_800, -33_200, 3), draw.series(-4_900, -1_700, 3)
    pretax = added(operating, interest, other)
    taxes = tuple(divided(value * draw.between(214, 246), 1000) for value in pretax)
    net = less(pretax, taxes)
    body = [
        Row("Net sales", amounts(sales), currency="$"),
        Row("Cost of goods sold", amounts(cost)),
        subtotal("Gross profit", amounts(gross), 1),
        section("Operating expenses:"),
        *rows(costs),
        subtotal("Total operating expenses", amounts(sums(costs)), 1),
        subtotal("Operating income", amounts(operating), 0),
        Row("Interest expense, net", amounts(interest)),
        Row("Other expense, net", amounts(other)),
        subtotal("Income before income taxes", amounts(pretax), 0),
        Row("Provision for income taxes", amounts(taxes)),
        total("Net income", amounts(net)),
        *per_share(draw, net),
    ]
    years = tuple(
        date(text) for text in ("December 27, 2025", "December 28, 2024", "December 30, 2023")
    )
    heads = Heads(
        years, (("Fiscal Year Ended", 3),), corner="(in thousands, except per share data)"
    )
    return (
        heading("MARROWICK FOODS, INC.", "CONSOLIDATED STATEMENTS OF INCOME", size=12, align="left")
        + statement(heads, body, size=9, shade="#e8eef4", leading=1.55)
        + percentages(sales, gross, operating, net)
    )


def per_share(draw: Draw, net: Figures) -> list[Row]:
    """Earnings per share in cents from net income and the average shares, both in thousands."""
    basic = draw.series(96_200, 98_400, 3, 2)
    diluted = tuple(value + draw.between(880, 1_460) for value in basic)
    earned = (
        tuple(divided(n * 100, s) for n, s in zip(net, of, strict=True)) for of in (basic, diluted)
    )
    basic_eps, diluted_eps = (amounts(line, 2) for line in earned)
    return [
        section("Earnings per share:"),
        Row("Basic", basic_eps, indent=1, currency="$"),
        Row("Diluted", diluted_eps, indent=1, currency="$"),
        section("Weighted average shares outstanding:"),
        Row("Basic", amounts(basic), indent=1),
        Row("Diluted", amounts(diluted), indent=1),
        Row("Cash dividends declared per share", amounts((92, 84, 78), 2), currency="$"),
    ]


def percentages(sales: Figures, gross: Figures, operating: Figures, net: Figures) -> str:
    body = [
        Row(label, tuple(percent(ratio(n, s)) for n, s in zip(line, sales, strict=True)))
        for label, line in (
            ("Gross profit", gross),
            ("Operating income", operating),
            ("Net income", net),
        )
    ]
    heads = Heads(tuple(date(year) for year in ("2025", "2024", "2023")))
    return (
        heading("As a percentage of net sales", size=9.5, align="left", margin="14px 0 2px")
        + statement(heads, body, size=9, shade="#e8eef4", leading=1.55)
        + para(
            f"The fiscal year ended {date('December 30, 2023')} comprised {date('52 weeks')}, "
            "as did both later years. The accompanying notes are an integral part of "
            "these statements.",
            size=8,
        )
    )


def cash_flow(draw: Draw) -> str:
    table = content("financial_statement")["cash_flow"]
    net = draw.series(71_200, 88_600, 2, 18)
    adjust, capital = (
        drawn(draw, table["adjustments"], 2),
        drawn(draw, table["working_capital"], 2, 60),
    )
    investing, financing = (drawn(draw, table[name], 2, 15) for name in ("investing", "financing"))
    operating = added(net, sums(adjust), sums(capital))
    change = added(operating, sums(investing), sums(financing))
    opening = draw.series(118_300, 131_900, 2)
    body = [
        section("Cash flows from operating activities:"),
        Row("Net income", amounts(net), indent=1, currency="$"),
        Row("Adjustments to reconcile net income to net cash:", indent=1),
        *items([(label, amounts(f)) for label, f in adjust], 2),
        Row("Changes in operating assets and liabilities:", indent=1),
        *items([(label, amounts(f)) for label, f in capital], 2),
        subtotal("Net cash provided by operating activities", amounts(operating), 1),
        section("Cash flows from investing activities:"),
        *rows(investing),
        subtotal("Net cash used in investing activities", amounts(sums(investing)), 1),
        section("Cash flows from financing activities:"),
        *rows(financing),
        subtotal("Net cash used in financing activities", amounts(sums(financing)), 1),
        Row("Net change in cash, cash equivalents and restricted cash", amounts(change)),
        Row("Cash, cash equivalents and restricted cash, beginning of period", amounts(opening)),
        total(
            "Cash, cash equivalents and restricted cash, end of period",
            amounts(added(opening, change)),
        ),
        section("Supplemental disclosure of cash flow information:"),
        *rows(drawn(draw, table["supplemental"], 2)),
    ]
    ends = date("June 30, 2026"), date("June 30, 2025")
    heads = Heads(ends, ((f"{date('Six Months')} Ended", 2),))
    return (
        heading(
            "YARROWQUAY SHIPPING LTD.", "Unaudited Condensed Consolidated Statements of Cash Flows"
        )
        + para("(Expressed in thousands of United States dollars)", align="center")
        + statement(heads, body, size=8.5, leading=1.4)
        + new_vessels(draw)
    )


def new_vessels(draw: Draw) -> str:
    vessels, months = number("3"), date("36 months")
    return para(
        f"During the {date('six months')} ended {date('June 30, 2026')} the Company took "
        f"delivery of {vessels} "
        f"product tankers under sale and leaseback agreements of {months} each, a "
        "non-cash financing "
        f"transaction of ${amount(draw.between(61_000, 74_000))}. See Note 7.",
        size=8.5,
    )


BUILDERS = {
    "sample-fs-01": balance_sheet,
    "sample-fs-02": income_statement,
    "sample-fs-03": cash_flow,
}
