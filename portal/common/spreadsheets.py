"""CSV files: every cell as people and programs can read it, whatever it holds."""

import csv
import io
from collections.abc import Iterable

DECIMALS = 6
"""Of every number in a CSV: of a rate in [0, 1], four decimals of its percentage."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def spreadsheet_text(text: str) -> str:
    """The text with an apostrophe before what a spreadsheet would calculate.

    The characters are those of OWASP's page on CSV injection, wide forms included.

    >>> spreadsheet_text("=1+1"), spreadsheet_text("a=1")
    ("'=1+1", 'a=1')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text


def csv_text(lines: Iterable[Iterable[object]]) -> str:
    """The lines as CSV; see `csv_cell`."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerows([csv_cell(value) for value in line] for line in lines)
    return text.getvalue()


def csv_cell(value: object) -> object:
    """A value as a cell: nothing for None, true or false, a number with at most six decimals, and
    a text that no spreadsheet calculates.

    >>> [csv_cell(value) for value in (None, True, 0.7715000000000001, 3, "=1+1")]
    ['', 'true', '0.7715', 3, "'=1+1"]
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return decimal_text(value)
    return spreadsheet_text(value) if isinstance(value, str) else value


def decimal_text(value: float) -> str:
    """Rounded to six decimals, without an exponent and without zeros at its end.

    >>> decimal_text(0.1 + 0.2), decimal_text(1.0), decimal_text(-1e-9), decimal_text(7e9)
    ('0.3', '1', '0', '7000000000')
    """
    text = f"{value:.{DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
