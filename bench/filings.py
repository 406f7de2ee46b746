"""Filings as an annotator opens them, with their facts: made here, from fixed seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.generated import WORDS, seeded

COLUMNS = 5
# Markup that EDGAR's converters write around every figure: 4,700 facts make a page of 1.4 MB.
_CELL = (
    '<td colspan="1" style="background-color:#cceeff;padding:2px 1pt;text-align:right;'
    'vertical-align:bottom">'
    '<div style="text-align:right"><span style="color:#000000;font-family:\'Times New Roman\','
    'sans-serif;font-size:10pt;font-weight:400;line-height:100%">{}</span></div></td>'
)


@dataclass(frozen=True)
class Filing:
    """A page of HTML, and the quotes of its facts in text order."""

    name: str
    html: str
    facts: tuple[str, ...]


def filings(pages: int, facts: int) -> list[Filing]:
    """So many pages with so many facts each, the same in every run."""
    return [filing(f"page-{number:03}", facts, number) for number in range(1, pages + 1)]


def filing(name: str, facts: int, seed: int) -> Filing:
    """Tables of figures, some in parentheses, with a sentence before each table."""
    chance = seeded(seed)
    parts: list[str] = []
    quotes: list[str] = []
    while len(quotes) < facts:
        if len(quotes) % 100 == 0:
            parts.append(f"<p>{' '.join(chance.choices(WORDS, k=40))}.</p><table>")
        row = [_figure(chance.randrange(1_000, 9_999_999), chance.random() < 0.2)]
        row += [
            _figure(chance.randrange(1_000, 9_999_999), chance.random() < 0.2)
            for _ in range(min(COLUMNS, facts - len(quotes)) - 1)
        ]
        quotes += row
        label = " ".join(chance.choices(WORDS, k=3))
        cells = "".join(_CELL.format(figure) for figure in row)
        parts.append(f"<tr><td>{label} </td>{cells}</tr>")
        if len(quotes) % 100 == 0 or len(quotes) >= facts:
            parts.append("</table>")
    return Filing(name, "".join(parts), tuple(quotes))


def _figure(number: int, is_negative: bool) -> str:
    return f"({number:,})" if is_negative else f"{number:,}"


def spans_of(text: str, quotes: Sequence[str]) -> list[dict[str, Any]]:
    """The quotes as spans of the canonical text, each behind the one before it."""
    spans = []
    position = 0
    for number, quote in enumerate(quotes):
        start = text.index(quote, position)
        position = start + len(quote)
        place = {"start": start, "end": position, "quote": quote}
        spans.append({"key": f"fact-{number}", "label": "Number", **place})
    return spans
