"""Two kinds of tables: the statement with currency signs in separate cells, and the grid."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sample.generator.markup import table, td, tr, without_tags

Kind = Literal["section", "item", "subtotal", "total"]

SINGLE = "border-top:1px solid #000000"
DOUBLE = f"{SINGLE};border-bottom:3px double #000000"
EDGES: dict[Kind, str] = {"section": "", "item": "", "subtotal": SINGLE, "total": DOUBLE}


@dataclass(frozen=True)
class Row:
    """A row of a statement: `values` are the finished cells.

    `currency` is in a separate cell before each, except in the columns `bare` (shares, rates).
    """

    label: str
    values: tuple[str, ...] = ()
    kind: Kind = "item"
    indent: int = 0
    currency: str = ""
    note: str = ""
    bare: tuple[int, ...] = ()

    def with_currency(self, currency: str = "$") -> "Row":
        return replace(self, currency=currency)


def section(label: str) -> Row:
    return Row(label, kind="section")


def items(lines: Sequence[tuple[str, tuple[str, ...]]], indent: int = 1) -> list[Row]:
    return [Row(label, values, indent=indent) for label, values in lines]


def subtotal(label: str, values: tuple[str, ...], indent: int = 2) -> Row:
    return Row(label, values, "subtotal", indent)


def total(label: str, values: tuple[str, ...], currency: str = "$", indent: int = 0) -> Row:
    return Row(label, values, "total", indent, currency)


@dataclass(frozen=True)
class Heads:
    """The head of a statement: a text per value column, and `spanning` texts over several of them.

    `width` is that of a value column in percent; without it columns fit their content.
    """

    columns: tuple[str, ...]
    spanning: tuple[tuple[str, int], ...] = ()
    corner: str = ""
    note: str = ""
    width: int = 0


def statement(
    heads: Heads,
    rows: Sequence[Row],
    *,
    size: float = 9,
    shade: str = "",
    gap: int = 10,
    leading: float = 1.45,
    after: int = 10,
) -> str:
    """A financial statement: label column, then gap, currency and value cell for every column."""
    noted = bool(heads.note)
    body = [_statement_row(row, len(heads.columns), noted) for row in rows]
    if shade:
        body = [_shaded(row, shade) if n % 2 == 0 else row for n, row in enumerate(body)]
    style = (
        f"width:100%;margin:0 0 {after}px;font-size:{size}pt;line-height:{leading};text-align:right"
    )
    return table([*_statement_heads(heads, gap, noted), *body], style)


def _statement_heads(heads: Heads, gap: int, noted: bool) -> list[str]:
    rows = []
    note_cell = [td()] if noted else []
    head = (
        "text-align:center;font-weight:bold;vertical-align:bottom;border-bottom:1px solid #000000"
    )
    if heads.spanning:
        cells = [td(), *note_cell]
        for text, span in heads.spanning:
            cells += [td(), td(text, head if text else "", span * 3 - 1)]
        rows.append(tr(cells))
    note = (
        [td(heads.note, "text-align:center;font-weight:bold;vertical-align:bottom")]
        if noted
        else []
    )
    cells = [td(heads.corner, "text-align:left;vertical-align:bottom;font-style:italic"), *note]
    width = f";width:{heads.width}%" if heads.width else ""
    for text in heads.columns:
        cells += [td("", f"width:{gap}px"), td(text, f"{head};line-height:1.2{width}", 2)]
    return [*rows, tr(cells)]


def _statement_row(row: Row, columns: int, noted: bool) -> str:
    bold = ";font-weight:bold" if row.kind in ("section", "total") else ""
    label_style = f"text-align:left;padding-left:{12 * row.indent + 12}px;text-indent:-12px{bold}"
    cells = [td(row.label, label_style)]
    if noted:
        cells.append(td(row.note, "text-align:center"))
    edge = EDGES[row.kind]
    for column, value in enumerate(row.values):
        currency = row.currency if value and column not in row.bare else ""
        cells += [td(), td(currency, _join("text-align:left" if currency else "", edge))]
        cells.append(td(value, _join(edge, hanging(value))))
    missing = columns - len(row.values)
    if missing:
        cells.append(td("", "", missing * 3))
    return tr(cells, "vertical-align:baseline" if row.kind == "total" else "vertical-align:bottom")


def _shaded(row: str, colour: str) -> str:
    return row.replace('<tr style="', f'<tr style="background-color:{colour};', 1)


def _join(*styles: str) -> str:
    return ";".join(style for style in styles if style)


def hanging(value: str) -> str:
    """Closing parentheses and percent signs hang to the right, so that digits are aligned."""
    text = without_tags(value)
    if text.endswith((")", "%")):
        return "white-space:nowrap" if text.startswith("(") else ""
    return "padding-right:.35em"


Rules = Literal["all", "rows", "ends"]
ALIGN = {"l": "left", "c": "center", "r": "right"}


@dataclass(frozen=True)
class Grid:
    """How a grid looks: an alignment letter per column, type size in points, widths in percent."""

    align: str
    rules: Rules = "rows"
    size: float = 9
    widths: tuple[int, ...] = ()
    shade_head: str = ""
    leading: float = 1.3
    bold_last: bool = False
    after: int = 10
    pad: str = "2px 5px"

    def cell_style(self, column: int, *, head: bool = False, last: bool = False) -> str:
        align = ALIGN[self.align[column]]
        if head and self.align[column] == "r" and self.rules == "all":
            align = "center"
        parts = [f"padding:{self.pad}", f"text-align:{align}" if align != "left" else ""]
        if self.rules == "all":
            parts.append("border:1px solid #000000")
        elif head:
            parts.append("border-bottom:1px solid #000000")
        elif last and self.bold_last:
            parts.append("border-top:1px solid #000000")
        elif self.rules == "rows":
            parts.append("border-bottom:1px solid #c0c0c0")
        if head or (last and self.bold_last):
            parts.append("font-weight:bold")
        if head:
            parts.append("vertical-align:bottom")
            parts.append(f"background-color:{self.shade_head}" if self.shade_head else "")
            parts.append(f"width:{self.widths[column]}%" if self.widths else "")
        return _join(*parts)


def grid(look: Grid, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A plain table of finished cells; without heads the first row gives the widths."""
    body = []
    if heads:
        body.append(tr(td(text, look.cell_style(n, head=True)) for n, text in enumerate(heads)))
    for index, row in enumerate(rows):
        last = index == len(rows) - 1
        body.append(tr(td(text, look.cell_style(n, last=last)) for n, text in enumerate(row)))
    ends = (
        "border-top:2px solid #000000;border-bottom:2px solid #000000;"
        if look.rules == "ends"
        else ""
    )
    style = (
        f"width:100%;margin:0 0 {look.after}px;border-collapse:collapse;{ends}"
        f"font-size:{look.size}pt;line-height:{look.leading};vertical-align:top"
    )
    return table(body, style)
