"""The sample page, and the parts of all pages: frame, headings, paragraphs, columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sample.generator.figures import Draw
from sample.generator.markup import plain, prose, table, td, tr

FONTS = {
    "serif": "Times New Roman,Liberation Serif,serif",
    "sans": "Arial,Liberation Sans,sans-serif",
    "narrow": "Arial Narrow,Liberation Sans Narrow,sans-serif",
    "wide": "Verdana,DejaVu Sans,sans-serif",
    "mono": "Courier New,Liberation Mono,monospace",
}

NOTICE = "Specimen – fictional company. No real issuer, person or security is shown."


@dataclass(frozen=True)
class SamplePage:
    """A page of the sample benchmark: its metadata, its typography and the function that fills it.

    `build` gets the page's seeded figures and returns the gold HTML of the page's content;
    `font` is a key of FONTS, `size` the size of the body text in points.
    """

    id: str
    doc_type: str
    company: str
    form_type: str
    fiscal_year: str
    title: str
    font: str
    size: float
    build: Callable[[Draw], str]

    def gold(self) -> str:
        """The whole gold page. All styling is inline: canonical HTML keeps no style sheets."""
        font = f"{self.size}pt {FONTS[self.font]}"
        frame = f"padding:40px 52px 28px;font:{font};line-height:1.25;color:#000000"
        content = self.build(Draw(self.id))
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            f"<title>{plain(self.title)}</title></head>\n"
            f'<body style="margin:0;background-color:#ffffff"><div style="{frame}">\n'
            f"{content}{notice()}</div></body></html>\n"
        )


def notice() -> str:
    style = (
        "margin:18px 0 0;padding-top:4px;border-top:1px solid #808080;"
        "font-size:7.5pt;text-align:center;color:#404040"
    )
    return f'<p style="{style}">{NOTICE}</p>\n'


def heading(*lines: str, size: float = 11, align: str = "center", margin: str = "0 0 10px") -> str:
    """Bold lines in one block."""
    style = f"margin:{margin};font-size:{size}pt;font-weight:bold;text-align:{align}"
    text = "<br>\n".join(lines)
    return f'<p style="{style}">{text}</p>\n'


def para(
    text: str, *, indent: int = 0, align: str = "justify", size: float = 0, after: int = 8
) -> str:
    """A paragraph; `indent` of its first line in pixels, `size` in points if not the page's own."""
    extra = (f";text-indent:{indent}px" if indent else "") + (
        f";font-size:{size}pt" if size else ""
    )
    return f'<p style="margin:0 0 {after}px;text-align:{align}{extra}">{text}</p>\n'


def bullets(items: Sequence[str], after: int = 8) -> str:
    inner = "".join(f'<li style="margin:0 0 4px">{item}</li>\n' for item in items)
    return f'<ul style="margin:0 0 {after}px;padding-left:24px">\n{inner}</ul>\n'


def mark(sign: str) -> str:
    """A raised footnote mark that does not push lines apart."""
    return f'<sup style="line-height:0">({sign})</sup>'


def footnotes(notes: Sequence[tuple[str, str]], size: float = 8, **values: str) -> str:
    """Notes under a table, each with its mark in the margin; texts as `prose` reads them."""
    top = "vertical-align:top"
    rows = [
        tr([td(sign, f"{top};width:24px"), td(prose(text, **values), f"{top};text-align:left")])
        for sign, text in notes
    ]
    return table(rows, f"width:100%;margin:4px 0 8px;font-size:{size}pt;line-height:1.25")


def columns(left: str, right: str, gap: int = 28) -> str:
    """Two columns side by side; the left one comes first in the text."""
    half = "vertical-align:top;width:50%"
    cells = [
        td(left, f"{half};padding-right:{gap // 2}px"),
        td(right, f"{half};padding-left:{gap // 2}px"),
    ]
    return table([tr(cells)], "width:100%")


def rule(weight: str = "1px solid", margin: str = "6px 0") -> str:
    return f'<div style="border-top:{weight} #000000;margin:{margin}"></div>\n'
