"""Reads the sample's gold pages as rows of figures, without using the generator."""

import re
from decimal import Decimal
from typing import NamedTuple

from lxml import html

from sample.generator.build import DATA

FACT = re.compile(r"[$£]?\s*(\(?)(-?[\d,]+(?:\.\d+)?)(\)?)(%?)")


class Row(NamedTuple):
    """The first cell of a row, and the figures of the row by column."""

    label: str
    values: dict[int, Decimal]


def gold(page_id: str) -> str:
    return (DATA / "gold" / f"{page_id}.html").read_text(encoding="utf-8")


def rows(page_id: str, table: int | None = None) -> list[Row]:
    """Returns the rows of one innermost table of the page, or of all of them."""
    tree = html.fromstring(gold(page_id).encode())
    innermost = [found for found in tree.iter("table") if found.find(".//table") is None]
    chosen = innermost if table is None else [innermost[table]]
    return [read_row(row) for found in chosen for row in found.iter("tr")]


def read_row(row: html.HtmlElement) -> Row:
    cells = row.findall("td")
    label = " ".join(cells[0].text_content().split())
    values, column = {}, 0
    for cell in cells:
        value = figure(cell)
        if value is not None:
            values[column] = value
        column += int(cell.get("colspan", "1"))
    return Row(label, values)


def figure(cell: html.HtmlElement) -> Decimal | None:
    """Returns the figure of a cell that contains only a figure. A dash is zero."""
    text = " ".join(cell.text_content().split())
    if text == "—":
        return Decimal(0)
    match = FACT.fullmatch(text)
    if match is None or cell.find(".//number") is None:
        return None
    value = Decimal(match[2].replace(",", ""))
    return -value if match[1] else value


def find(table: list[Row], label: str, start: int = 0) -> int:
    for place in range(start, len(table)):
        if table[place].label == label:
            return place
    raise AssertionError(f"no row {label!r}; there are {[row.label for row in table]}")
