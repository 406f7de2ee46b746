"""The quarterly supplement of a property trust: lease expiries, occupancy, debt."""

from sample.generator.content import content
from sample.generator.figures import Draw, added, amount, divided, percent, shares_of
from sample.generator.layout import columns, footnotes, heading
from sample.generator.markup import date, number, prose
from sample.generator.tables import Grid, grid


def supplement(draw: Draw) -> str:
    return (
        heading("BRACKWATER STORAGE TRUST", size=12, align="left", margin="0 0 2px")
        + heading(f"Supplemental information – {date('June 30, 2026')}", size=9, align="left")
        + heading("Lease expiration schedule", size=9.5, align="left", margin="10px 0 4px")
        + expiries(draw)
        + columns(occupancy(draw), capital(draw))
        + heading("Debt summary", size=9.5, align="left", margin="6px 0 4px")
        + debt(draw)
        + footnotes(content("supplemental_report")["leases"]["notes"], 7.5)
    )


def expiries(draw: Draw) -> str:
    """Leases, square feet and rent by the year of expiry; both percentage columns add up to 100."""
    table = content("supplemental_report")["leases"]
    lines: list[tuple[str, int, int, int]] = []
    for label, low, high, feet_low, feet_high in table["years"]:
        feet = draw.between(feet_low * 1000, feet_high * 1000)
        rent = divided(feet * draw.between(1_240, 1_690), 100_000)
        year = date(label) if label.isdigit() else label
        lines.append((year, draw.between(low, high), feet, rent))
    feet_shares = shares_of([feet for _, _, feet, _ in lines])
    rent_shares = shares_of([rent for *_, rent in lines])
    rows = [
        [year, *expiry_cells(leases, feet, feet_share, rent, rent_share)]
        for (year, leases, feet, rent), feet_share, rent_share in zip(
            lines, feet_shares, rent_shares, strict=True
        )
    ]
    leases, feet, rent = added(*(line[1:] for line in lines))
    rows.append(["Total", *expiry_cells(leases, feet, 1000, rent, 1000)])
    look = Grid("lrrrrrr", size=8, bold_last=True, pad="2.5px 6px")
    return grid(look, table["heads"], rows)


def expiry_cells(leases: int, feet: int, share: int, rent: int, rent_share: int) -> list[str]:
    per_foot = divided(rent * 100_000, feet)
    return [
        amount(leases),
        amount(feet),
        percent(share),
        amount(rent),
        percent(rent_share),
        f"${amount(per_foot, 2)}",
    ]


def occupancy(draw: Draw) -> str:
    rows = []
    for quarter in content("supplemental_report")["leases"]["quarters"]:
        filled, growth = draw.between(912, 948), draw.between(-12, 41)
        rows.append(
            [date(quarter), percent(filled), percent(draw.between(925, 961)), percent(growth)]
        )
    heads = ["Quarter", "Occupied", "Leased", "Rent growth"]
    title = heading("Same-store occupancy", size=9.5, align="left", margin="6px 0 4px")
    return title + grid(Grid("lrrr", size=8, pad="2.5px 6px"), heads, rows)


def capital(draw: Draw) -> str:
    rows = [
        ["Common shares outstanding", number("48,316,204")],
        ["Share price", f"${amount(draw.between(2_640, 3_120), 2)}"],
        ["Annualized dividend per share", f"${number('1.48')}"],
        ["Payout ratio of adjusted funds", percent(draw.between(712, 768))],
        ["Net debt to enterprise value", percent(draw.between(281, 329))],
        ["Properties with solar roofs", number("1/4")],
    ]
    title = heading("Capitalization", size=9.5, align="left", margin="6px 0 4px")
    return title + grid(Grid("lr", size=8, pad="2.5px 6px"), [], rows)


def debt(draw: Draw) -> str:
    """Principal in $ thousand; the average rate in the total row is weighted by principal."""
    lines = [
        (label, day, rate, draw.between(low, high))
        for label, day, rate, low, high in content("supplemental_report")["leases"]["debt"]
    ]
    principal = sum(line[3] for line in lines)
    average = divided(sum(rate * owed for _, _, rate, owed in lines), principal)
    shares = shares_of([line[3] for line in lines])
    rows = [
        [prose(label), date(day), percent(rate, 3), amount(owed), percent(share)]
        for (label, day, rate, owed), share in zip(lines, shares, strict=True)
    ]
    total = [percent(average, 3), amount(principal), percent(1000)]
    rows.append(["Total / weighted average (2)", "", *total])
    heads = ["Instrument", "Maturity", "Rate", "Principal ($ thousand)", "% of debt"]
    return grid(Grid("llrrr", size=8, bold_last=True, pad="2.5px 6px"), heads, rows)


BUILDERS = {"sample-sr-06": supplement}
