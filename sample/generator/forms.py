"""Parts of fictional tax forms: head, boxes with captions, numbered lines with amount boxes."""

from collections.abc import Sequence
from dataclasses import dataclass

from sample.generator.markup import table, td, tr, without_tags

BORDER = "1px solid #000000"
EDGE = f"border-left:{BORDER};border-bottom:{BORDER}"
DOTS = {1: 79, 2: 63}  # leaders that fill an empty line, by the number of amount columns


def form_head(name: str, title: str, subtitle: str, right: str, office: str = "Revenue") -> str:
    """Three boxes across: the form's name, its title, the year."""
    edge = "border-bottom:2px solid #000000;padding:4px 6px"
    left = (
        f'<span style="font-size:8pt">Form</span> <b style="font-size:17pt">{name}</b>'
        '<br>(specimen)<br><span style="font-size:6.5pt">Department of Specimens<br>'
        f"Fictional {office} Office</span>"
    )
    middle = (
        f'<b style="font-size:13pt">{title}</b><br><span style="font-size:7.5pt">{subtitle}</span>'
    )
    cells = [
        td(left, f"{edge};width:22%;border-right:{BORDER};text-align:left"),
        td(middle, f"{edge};text-align:center"),
        td(right, f"{edge};width:17%;border-left:{BORDER};text-align:center"),
    ]
    return table(
        [tr(cells)],
        "width:100%;border-top:2px solid #000000;line-height:1.3;vertical-align:middle",
    )


@dataclass(frozen=True)
class Box:
    """A captioned box of a form; `width` in percent, `span` in columns, `align` of its value."""

    caption: str
    value: str = ""
    width: int = 0
    span: int = 1
    align: str = "left"

    def cell(self, size: float) -> str:
        style = f"border:{BORDER};padding:1px 4px 2px;vertical-align:top;text-align:left"
        style += f";width:{self.width}%" if self.width else ""
        caption = f'<div style="font-size:6.5pt;line-height:1.2">{self.caption}</div>\n'
        value_style = f"font-size:{size}pt;text-align:{self.align};padding-top:2px"
        value = f'<div style="{value_style}">{self.value or "&nbsp;"}</div>'
        return td(caption + value, style, self.span)


def boxes(rows: Sequence[Sequence[Box]], size: float = 9, after: int = 0) -> str:
    style = f"width:100%;border-collapse:collapse;margin:0 0 {after}px"
    return table((tr(box.cell(size) for box in row) for row in rows), style)


def part(number: str, title: str) -> str:
    """The black bar that opens a part of a form."""
    bar = "background-color:#000000;color:#ffffff;padding:0 8px"
    label = f'<span style="{bar}"><b>Part {number}</b></span>'
    style = f"border-top:{BORDER};border-bottom:{BORDER};padding:2px 0;margin:0;font-size:9pt"
    return f'<p style="{style}">{label} &nbsp;<b>{title}</b></p>\n'


@dataclass(frozen=True)
class FormLine:
    """A numbered line with one amount box per value; an empty value leaves its box empty."""

    number: str
    text: str
    values: tuple[str, ...]
    bold: bool = False

    def leaders(self) -> str:
        """Dots that lead from the text to the boxes, fewer the longer the text is."""
        length = len(without_tags(self.text)) * (92 if self.bold else 85) // 100
        count = DOTS[len(self.values)] - length
        return f'<span style="float:right;color:#606060">{" ." * count}</span>' if count > 3 else ""

    def row(self, width: int) -> str:
        text = f"<b>{self.text}</b>" if self.bold else self.text
        mark = "padding:2px 4px;text-align:right;width:4%;font-weight:bold"
        small = f"{EDGE};width:4%;text-align:center;font-size:7.5pt;font-weight:bold"
        amount = f"{EDGE};width:{width}%;padding:2px 5px;text-align:right"
        return tr(
            [
                td(self.number, mark),
                td(text + self.leaders(), "padding:2px 4px;text-align:left"),
                td(self.number, small),
                *(td(value, amount) for value in self.values),
            ]
        )


def lines(
    rows: Sequence[FormLine], heads: Sequence[str] = (), size: float = 8.5, width: int = 15
) -> str:
    """Numbered lines with amount boxes to the right, with a head when there are several columns."""
    body = [row.row(width) for row in rows]
    if heads:
        style = f"{EDGE};text-align:center;font-weight:bold;padding:2px"
        cells = [td("", "", 2), td("", EDGE), *(td(text, style) for text in heads)]
        body.insert(0, tr(cells))
    return table(body, f"width:100%;font-size:{size}pt;line-height:1.25")


def signature(name: str, title: str, day: str) -> str:
    """The signature block at the foot of a form."""
    row = [
        Box("Signature (specimen, not signed)", "", 40),
        Box("Name", name, 25),
        Box("Title", title, 17),
        Box("Date", day, 18),
    ]
    return boxes([row], size=8.5)
