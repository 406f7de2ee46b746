"""Small pages for the tests of the fact matchers."""

from collections.abc import Sequence

from scoring.metrics.facts import Verdict, match_aligned, read_page, read_prediction


def number(value: str) -> str:
    return f"<Number>{value}</Number>"


def date(value: str) -> str:
    return f"<Date>{value}</Date>"


def table(rows: Sequence[Sequence[str]]) -> str:
    cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"


def verdicts(gold: str, prediction: str) -> list[Verdict]:
    return match_aligned(read_page(gold), read_prediction(prediction))


def errors(gold: str, prediction: str) -> list[str]:
    """The error type of every fact, or "ok"."""
    return [verdict.error or "ok" for verdict in verdicts(gold, prediction)]


# An income statement: gold, and the plain cells of a perfect prediction.
CELLS = [
    ["Item", "2023", "2022"],
    ["Revenue", "1,200", "1,100"],
    ["Cost of sales", "(700)", "(650)"],
    ["Gross profit", "500", "450"],
]
HEADING = "<p>Statement of operations</p>"
TEXT = "<p>As of December 31, 2023 the company had 42 stores and 42 offices.</p>"
TAGGED_TEXT = (
    f"<p>As of {date('December 31, 2023')} the company had {number('42')} stores and "
    f"{number('42')} offices.</p>"
)
STATEMENT = (
    HEADING
    + table([CELLS[0], *([row[0], *map(number, row[1:])] for row in CELLS[1:])])
    + TAGGED_TEXT
)
