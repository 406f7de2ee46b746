"""Supplemental reports of companies: earnings release, non-GAAP reconciliation."""

from sample.generator.content import content
from sample.generator.figures import (
    Draw,
    Figures,
    added,
    amount,
    amounts,
    change,
    divided,
    percent,
    ratio,
)
from sample.generator.layout import bullets, footnotes, heading, mark, para, rule
from sample.generator.lines import Line, drawn, rows, sums
from sample.generator.markup import date, prose
from sample.generator.tables import Heads, Row, statement, total


def release(draw: Draw) -> str:
    table = content("supplemental_report")["release"]
    subscription = draw.grown(361_000, 378_000, 104, 139)
    services = draw.grown(38_000, 43_000, 21, 64)
    revenue = added(subscription, services)
    operating = draw.between(-4_900, -2_100), draw.between(-21_400, -15_600)
    title = f"Lanternwick Software Reports {date('Second Quarter Fiscal 2026')} Results"
    growth = f"Revenue up {change(*revenue)} to ${millions(revenue[0])} million"
    return (
        heading("Exhibit 99.1", size=9, align="right", margin="0 0 6px")
        + heading(title, size=14, margin="0 0 4px")
        + para(f"<i>{growth}; full-year outlook raised</i>", align="center", after=14)
        + para(prose(table["intro"]))
        + para(prose(table["quote"]))
        + heading("Highlights", size=10.5, align="left", margin="8px 0 4px")
        + highlights(draw, table["highlights"], subscription, revenue, operating)
        + key_figures(draw, subscription, services, operating)
        + heading("Outlook", size=10.5, align="left", margin="8px 0 4px")
        + outlook(draw, table["outlook"])
        + rule()
        + para(prose(table["caution"]), size=8)
    )


def millions(thousands: int) -> str:
    """$ million with one decimal, rounded from the thousands of the table."""
    return amount(divided(thousands, 100), 1)


def highlights(
    draw: Draw, texts: list[str], subscription: Figures, revenue: Figures, operating: Figures
) -> str:
    margins = [percent(ratio(o, r)) for o, r in zip(operating, revenue, strict=True)]
    values = {
        "subscription": millions(subscription[0]),
        "growth": change(*subscription),
        "loss": millions(operating[0]),
        "loss_before": millions(operating[1]),
        "margin": margins[0],
        "margin_before": margins[1],
        "price": amount(draw.between(4_610, 5_120), 2),
    }
    return bullets([prose(text, **values) for text in texts])


def outlook(draw: Draw, text: str) -> str:
    low = draw.between(15_900, 16_100)
    ends = {"low": low, "high": low + 140, "low_before": low - 220, "high_before": low - 60}
    return para(prose(text, **{name: amount(value, 1) for name, value in ends.items()}))


def key_figures(draw: Draw, subscription: Figures, services: Figures, operating: Figures) -> str:
    revenue = added(subscription, services)
    lines: list[Line] = [
        ("Subscription revenue", subscription),
        ("Professional services", services),
    ]
    body = [moved(label, line) for label, line in lines]
    body.append(Row("Total revenue", with_change(revenue), "total", currency="$", bare=(2,)))
    body.append(Row("GAAP operating loss", (*amounts(operating), "")))
    for label, low, high in content("supplemental_report")["release"]["metrics"]:
        body.append(moved(label, draw.grown(low, high, -31, 146)))
    body[0] = Row("Subscription revenue", with_change(subscription), currency="$", bare=(2,))
    heads = Heads(
        (date("June 30, 2026"), date("June 30, 2025"), "Change"),
        ((f"{date('Three Months')} Ended", 2), ("", 1)),
        corner="(unaudited, in thousands)",
        width=17,
    )
    return statement(heads, body, size=9, leading=1.5)


def moved(label: str, line: Figures) -> Row:
    return Row(label, with_change(line))


def with_change(line: Figures) -> tuple[str, ...]:
    return (*amounts(line), change(*line))


PERIODS = tuple(
    date(day) for day in ("March 28, 2026", "March 29, 2025", "March 28, 2026", "March 29, 2025")
)


def reconciliation(draw: Draw) -> str:
    """Non-GAAP measures follow from the GAAP ones by the adjustments above them."""
    table = content("supplemental_report")["reconciliation"]
    quarter = draw.series(318_000, 334_000, 2, 8)
    revenue = (*quarter, *(value * 2 - draw.between(3_000, 9_000) for value in quarter))
    gross = tuple(divided(value * draw.between(512, 541), 1000) for value in revenue)
    operating = tuple(divided(value * draw.between(98, 131), 1000) for value in revenue)
    to_gross = two_periods(draw, table["to_gross"])
    to_operating = two_periods(draw, table["to_operating"])
    gross_after = added(gross, sums(to_gross))
    operating_after = added(operating, sums(to_operating))
    body = [
        Row("Revenue", amounts(revenue), currency="$"),
        *bridge("gross profit", gross, to_gross, gross_after, revenue),
        *bridge("operating income", operating, to_operating, operating_after, revenue),
        *net_income(draw, operating, sums(to_operating)),
    ]
    spans = ((f"{date('Three Months')} Ended", 2), (f"{date('Six Months')} Ended", 2))
    heads = Heads(PERIODS, spans, corner="(in thousands, except per share amounts)", width=13)
    return (
        heading("BRINDLECAIRN SEMICONDUCTOR CORP.", size=11, align="left", margin="0 0 2px")
        + heading("Reconciliation of GAAP to Non-GAAP Financial Measures", size=10, align="left")
        + statement(heads, body, size=8, shade="#eef3ee", leading=1.5, gap=8)
        + footnotes(table["notes"], 7.5)
    )


def two_periods(draw: Draw, ranges: list[tuple[str, int, int]]) -> list[Line]:
    """Quarter figures of two years, then half-year figures of both: about twice the quarter."""
    lines = drawn(draw, ranges, 2)
    return [(label, (*q, *(value + draw.near(value, 10) for value in q))) for label, q in lines]


def bridge(
    name: str, gaap: Figures, adjust: list[Line], result: Figures, revenue: Figures
) -> list[Row]:
    margins = (
        tuple(percent(ratio(n, of)) for n, of in zip(line, revenue, strict=True))
        for line in (gaap, result)
    )
    before, after = margins
    return [
        Row(f"GAAP {name}", amounts(gaap), currency="$"),
        *rows([(label + mark("1") * label.startswith("Restr"), line) for label, line in adjust]),
        total(f"Non-GAAP {name}", amounts(result)),
        Row("GAAP margin", before, indent=1),
        Row("Non-GAAP margin", after, indent=1),
    ]


def net_income(draw: Draw, operating: Figures, adjustments: Figures) -> list[Row]:
    interest = tuple(-draw.between(2_100, 3_900) * (1 + n // 2) for n in range(4))
    net = tuple(divided(value * 79, 100) for value in added(operating, interest))
    effect = tuple(-divided(value * 21, 100) for value in adjustments)
    result = added(net, adjustments, effect)
    shares = tuple(draw.between(61_800, 63_900) for _ in range(4))
    per_share = [
        amounts(tuple(divided(n * 100, s) for n, s in zip(line, shares, strict=True)), 2)
        for line in (net, result)
    ]
    return [
        Row("GAAP net income", amounts(net), currency="$"),
        Row("Adjustments to operating income, as above", amounts(adjustments), indent=1),
        Row(f"Income tax effect{mark('2')}", amounts(effect), indent=1),
        total("Non-GAAP net income", amounts(result)),
        Row("GAAP net income per diluted share", per_share[0], currency="$"),
        Row("Non-GAAP net income per diluted share", per_share[1], currency="$"),
        Row("Diluted shares used in the computation", amounts(shares)),
    ]


BUILDERS = {
    "sample-sr-01": release,
    "sample-sr-02": reconciliation,
}
