"""Fictional tax forms: individual income, wages, exempt organisation."""

from sample.generator.content import content
from sample.generator.figures import Draw, Figures, added, amount, divided, less, signed
from sample.generator.forms import Box, FormLine, boxes, form_head, lines, part, signature
from sample.generator.layout import heading, para
from sample.generator.markup import date, number, prose
from sample.generator.tables import Grid, grid


def individual(draw: Draw) -> str:
    """Form 1-S: income, deductions, tax and payments; totals follow from the lines above."""
    income, income_lines = incomes(draw)
    taxable, deduction_lines = deductions(draw, income)
    resident = "For one person, resident for the whole year"
    return (
        form_head("1-S", "Individual Income Statement", resident, tax_year("2025"))
        + boxes(filer())
        + part("I", "Income")
        + lines(income_lines)
        + part("II", "Deductions")
        + lines(deduction_lines)
        + part("III", "Tax and payments")
        + lines(tax_lines(draw, taxable))
        + rate_table()
        + signature("Ottoline Fairweather", "Filer", date("April 9, 2026"))
    )


def incomes(draw: Draw) -> tuple[int, list[FormLine]]:
    """Total income and the lines of Part I."""
    ranges = content("tax_form")["individual"]["income"]
    values = [draw.between(low, high) for _, low, high in ranges]
    exempt = draw.between(60, 290)
    qualified = values[2] - draw.between(150, 900)
    texts = [prose(text, exempt=signed(exempt), qualified=signed(qualified)) for text, *_ in ranges]
    rows = [
        line(str(place), text, value)
        for place, (text, value) in enumerate(zip(texts, values, strict=True), 1)
    ]
    rows.append(line("8", "Total income. Add lines 1 through 7", sum(values), bold=True))
    return sum(values), rows


def deductions(draw: Draw, income: int) -> tuple[int, list[FormLine]]:
    """Taxable income and the lines of Part II."""
    values = draw.between(3_500, 6_500), draw.between(240, 1_150), 14_600
    taxable = income - sum(values)
    rows = [
        line("9", "Retirement savings contributions", values[0]),
        line("10", "Student loan interest", values[1]),
        line("11", "Standard deduction", values[2]),
        line("12", "Total deductions. Add lines 9 through 11", sum(values), bold=True),
        line("13", "Taxable income. Subtract line 12 from line 8", taxable, bold=True),
    ]
    return taxable, rows


def tax_year(year: str) -> str:
    big = f'<b style="font-size:19pt">{date(year)}</b>'
    return f'<span style="font-size:7.5pt">Tax year</span><br>{big}'


def line(mark: str, text: str, value: int, bold: bool = False) -> FormLine:
    return FormLine(mark, text, (signed(value),), bold)


def filer() -> list[list[Box]]:
    return [
        [
            Box("Name", "Ottoline Fairweather", 52),
            Box("Taxpayer number (fictitious)", "000-00-0000", 26),
            Box("Date of birth", date("05/17/1984"), 22),
        ],
        [
            Box("Address", "9 Placeholder Lane, Sampleton"),
            Box("Filing status", "Single"),
            Box("Dependents", number("0")),
        ],
    ]


def tax_on(taxable: int) -> int:
    """The tax of the form's own rate table, in whole dollars."""
    tax = 0
    for over, up_to, rate in content("tax_form")["individual"]["rates"]:
        upper = min(taxable, up_to) if up_to else taxable
        tax += max(0, upper - over) * rate
    return divided(tax, 100)


def tax_lines(draw: Draw, taxable: int) -> list[FormLine]:
    tax = tax_on(taxable)
    credit = draw.between(200, 900)
    withheld = divided((tax - credit) * draw.between(88, 96), 100)
    estimated = draw.between(1_500, 2_400)
    refund = withheld + estimated - (tax - credit)
    due_back, owed = (signed(refund), "") if refund > 0 else ("", signed(-refund))
    paid = f"Estimated payments made by {date('January 15, 2026')}"
    return [
        line("14", "Tax on line 13 from the rate table below", tax),
        line("15", "Credits", credit),
        line("16", "Tax after credits. Subtract line 15 from line 14", tax - credit, bold=True),
        line("17", "Tax withheld from wages (Form 2-W, box 2)", withheld),
        line("18", paid, estimated),
        line("19", "Total payments. Add lines 17 and 18", withheld + estimated, bold=True),
        FormLine("20", "Refund, if line 19 is larger than line 16", (due_back,)),
        FormLine("21", "Amount you owe, if line 16 is larger", (owed,)),
    ]


def rate_table() -> str:
    rows = []
    base = 0
    for over, up_to, rate in content("tax_form")["individual"]["rates"]:
        upper = f"${signed(up_to)}" if up_to else "no limit"
        tax = f"${signed(base)} plus {number(f'{rate}%')}"
        rows.append([f"${signed(over)}", upper, tax, f"${signed(over)}"])
        base += divided((up_to - over) * rate, 100)
    heads = ["Line 13 is over", "but not over", "the tax is", "of the amount over"]
    look = Grid(
        "rrrr", rules="all", size=8, widths=(25, 25, 25, 25), shade_head="#ececec", pad="2px 8px"
    )
    title = heading("Rate table (fictional)", size=8.5, align="left", margin="8px 0 3px")
    return title + grid(look, heads, rows)


def wages(draw: Draw) -> str:
    """Form 2-W: two wage statements of one employer on a sheet."""
    copies = []
    for name, address, low, high in content("tax_form")["wages"]["employees"]:
        copies.append(wage_statement(draw, name, address, draw.between(low, high)))
    style = "margin:16px 0;border-top:1px dashed #000000;font-size:7pt;text-align:center"
    cut = f'<p style="{style}">cut here</p>\n'
    return cut.join(copies)


def wage_statement(draw: Draw, name: str, address: str, gross: int) -> str:
    """Amounts in cents. Boxes 4 and 6 are the stated rates of boxes 3 and 5."""
    saved, care = draw.between(210_000, 640_000), draw.between(0, 1) * 250_000
    health, state = draw.between(780_000, 1_310_000), divided(gross * draw.between(31, 49), 1000)
    taxed = gross - saved
    withheld = divided(taxed * draw.between(118, 171), 1000)
    money = [
        wage_box("1 Wages, tips, other compensation", taxed),
        wage_box("2 Income tax withheld", withheld),
        wage_box("3 Pension wages", gross),
        wage_box(f"4 Pension tax withheld at {number('6.2%')}", divided(gross * 62, 1000)),
        wage_box("5 Health wages", gross),
        wage_box(f"6 Health tax withheld at {number('1.45%')}", divided(gross * 145, 10_000)),
        Box("7 Tips"),
        wage_box("8 Dependent care benefits", care),
    ]
    people = people_boxes(f"{name}<br>{address}, Sampleton")
    rows = [[person, *money[2 * n : 2 * n + 2]] for n, person in enumerate(people)]
    below = [
        Box("9 Code and amount", f"D &nbsp; {signed(saved, 2)}", 25),
        Box("10 Code and amount", f"DD &nbsp; {signed(health, 2)}", 25),
        Box("11 State wages", signed(taxed, 2), 25, align="right"),
        Box("12 State tax", signed(state, 2), 25, align="right"),
    ]
    head = form_head("2-W", "Wage Statement", "Copy for the employee’s records", tax_year("2025"))
    note = prose(content("tax_form")["wages"]["note"])
    return head + boxes(rows, 10) + boxes([below], 10, 4) + para(note, size=7.5, after=0)


def people_boxes(employee: str) -> list[Box]:
    return [
        Box("a Employee’s number (fictitious)", "000-00-0000", 44),
        Box("b Employer’s number (fictitious)", "00-0000000"),
        Box("c Employer", "Zephyrine Glassworks, Inc.<br>1 Specimen Way, Sampleton"),
        Box("d Employee", employee),
    ]


def wage_box(caption: str, cents: int) -> Box:
    return Box(caption, signed(cents, 2) if cents else "", 28, align="right")


def exempt(draw: Draw) -> str:
    """Form 9-X: prior and current year side by side."""
    table = content("tax_form")["exempt"]
    revenue, expenses = (two_years(draw, table[name]) for name in ("revenue", "expenses"))
    income, spent = (added(*(figures for *_, figures in group)) for group in (revenue, expenses))
    surplus = less(income, spent)
    rows = [
        *(both(mark, text, figures) for mark, text, figures in revenue),
        both("12", "Total revenue. Add lines 8 through 11", income, bold=True),
        *(both(mark, text, figures) for mark, text, figures in expenses),
        both("18", "Total expenses. Add lines 13 through 17", spent, bold=True),
        both("19", "Revenue less expenses. Subtract line 18 from line 12", surplus, bold=True),
    ]
    year = f"Tax year beginning {date('07/01/2024')} and ending {date('06/30/2025')}"
    return (
        form_head("9-X", "Return of an Exempt Organization", year, "<b>Open to<br>inspection</b>")
        + boxes(organisation(income[1]))
        + part("I", "Summary")
        + lines(governance(draw), width=12)
        + lines(rows, ("Prior year", "Current year"))
        + lines(net_assets(draw, surplus[1]), ("Beginning of year", "End of year"))
        + part("II", "Signature block")
        + para(
            "Under penalty of nothing at all, this fictional return is declared to be complete.",
            size=7.5,
            after=2,
        )
        + signature("Perpetua Lindqvist-Moor", "Treasurer", date("11/12/2025"))
    )


def two_years(draw: Draw, table: list[tuple[str, str, int, int]]) -> list[tuple[str, str, Figures]]:
    """Prior year first, as the form has it."""
    return [
        (mark, text, (draw.between(low, high), draw.between(low, high)))
        for mark, text, low, high in table
    ]


def both(mark: str, text: str, figures: Figures, bold: bool = False) -> FormLine:
    return FormLine(mark, text, tuple(signed(value) for value in figures), bold)


def organisation(receipts: int) -> list[list[Box]]:
    return [
        [
            Box("A Name of organization", "The Brambleford Reading Rooms", 50),
            Box("B Organization number (fictitious)", "00-0000000", 25),
            Box("C Gross receipts", f"$ {amount(receipts)}", 25),
        ],
        [
            Box("D Address", "4 Mockingham Square, Sampleton"),
            Box("E Year of formation", date("1987")),
            Box("F Form of organization", "☒ Corporation &nbsp; ☐ Trust"),
        ],
    ]


def governance(draw: Draw) -> list[FormLine]:
    members = draw.between(11, 15)
    counts = [
        ("3", "Number of voting members of the governing body", members),
        ("4", "Number of independent voting members", members - draw.between(1, 3)),
        ("5", "Number of individuals employed in the year", draw.between(41, 63)),
        ("6", "Number of volunteers (estimate if necessary)", draw.between(9, 24) * 10),
        ("7", "Unrelated business taxable income", -draw.between(800, 4_200)),
    ]
    return [line(mark, text, value) for mark, text, value in counts]


def net_assets(draw: Draw, surplus: int) -> list[FormLine]:
    """The year's surplus carries the opening net assets to the closing ones."""
    opening = draw.between(3_900_000, 4_600_000)
    debts = draw.between(310_000, 420_000), draw.between(280_000, 390_000)
    closing = opening + surplus
    assets = opening + debts[0], closing + debts[1]
    return [
        both("20", "Total assets", assets),
        both("21", "Total liabilities", debts),
        both("22", "Net assets. Subtract line 21 from line 20", (opening, closing), bold=True),
    ]


BUILDERS = {
    "sample-tf-01": individual,
    "sample-tf-02": wages,
    "sample-tf-03": exempt,
}
