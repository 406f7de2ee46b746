"""The look of charts: colours, fonts, and the style of dark mode.

The colours are those of static/css/tokens.css. Pictures are drawn in light colours; a style in the
SVG replaces each with its dark counterpart, so that one file serves both.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

PAPER, INK, MUTED, HAIRLINE = "#fdfcfa", "#1c2024", "#555d66", "#d9d6cf"
ACCENT, ORANGE = "#0b6156", "#9c4700"
# Groups and the best systems get them in this order. Shapes are the second cue.
COLOURS = (ACCENT, ORANGE, "#0a57a6", "#8b2d7c", "#6a4a2c")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")

_DARK = {
    PAPER: "#15181b",
    INK: "#e6e7e8",
    MUTED: "#a3abb3",
    HAIRLINE: "#343a40",
    ACCENT: "#6fcdbb",
    ORANGE: "#f6a94e",
    "#0a57a6": "#7fb8f6",
    "#8b2d7c": "#e79dd8",
    "#6a4a2c": "#d6ae88",
}

CONFIG: dict[str, Any] = {
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 13,
        "titlePadding": 10,
        "gridColor": HAIRLINE,
        "domainColor": MUTED,
        "tickColor": MUTED,
        "labelLimit": 260,
    },
    "legend": {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 12,
        "labelLimit": 280,
        "orient": "top",
        "symbolOpacity": 1,
    },
    "text": {"fontSize": 12, "color": INK},
}


class Room(NamedTuple):
    """The room of a picture: its width, the most characters of a name and of a heading line, and
    the length of the lines between two orders."""

    width: int
    longest_name: int
    longest_head: int
    between: int


# The average width of one character, at the size of names.
LETTER = 6.4
PADDING = 4
WIDE = Room(width=680, longest_name=34, longest_head=34, between=220)
# The height that a phone shows without scrolling.
NARROW = Room(width=350, longest_name=16, longest_head=22, between=96)

# Characters that XML 1.0 does not allow.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Put text on one line and remove characters that an SVG cannot hold."""
    return " ".join(_FORBIDDEN.sub("", text).split())


def short_names(names: Sequence[str], longest: int = WIDE.longest_name) -> list[str]:
    """Clean and shorten names, and keep them distinct so that no row covers another.

    >>> short_names(["Reader", "Reader", "x" * 50])
    ['Reader', 'Reader (2)', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…']
    >>> short_names(["A simulated reader, careful", "A simulated reader, hasty"], 16)
    ['A simul… careful', 'A simul…r, hasty']
    """
    wholes = [clean(name) or "?" for name in names]
    begun = Counter(_cut(whole, longest) for whole in dict.fromkeys(wholes))
    seen: set[str] = set()
    shown = []
    for whole in wholes:
        text = _cut(whole, longest)
        # Names with the same beginning are distinguished by their ends.
        text = _cut(whole, longest, end=longest // 2) if begun[text] > 1 else text
        number, shortened = 2, text
        while shortened in seen:
            shortened, number = f"{text} ({number})", number + 1
        seen.add(shortened)
        shown.append(shortened)
    return shown


def _cut(text: str, longest: int, end: int = 0) -> str:
    """Shorten the text to `longest` characters, keeping the last `end` characters."""
    if len(text) <= longest:
        return text
    return f"{text[: longest - 1 - end]}…{text[len(text) - end :]}"


class Words(NamedTuple):
    """The title and description of a picture, for screen readers."""

    title: str
    description: str


# Readers can highlight one row in an interactive chart; static pictures highlight none. Names are
# compared as data.
HIGHLIGHT = "highlight"
PARAMS: list[dict[str, Any]] = [{"name": HIGHLIGHT, "value": ""}]


def highlighted(opacity: float = 1) -> dict[str, Any]:
    """Show the marks of the highlighted row, or of all rows, as they are, and others fainter."""
    test = f"{HIGHLIGHT} === '' || datum.name === {HIGHLIGHT}"
    return {"condition": {"test": test, "value": opacity}, "value": 0.12}


def nominal(field: str, **options: Any) -> dict[str, Any]:
    """Encode a category, in the order of the data."""
    return {"field": field, "type": "nominal", "sort": None, "title": None, **options}


def quantitative(field: str, **options: Any) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", **options}


def scaled(field: str, names: Sequence[str], values: Sequence[Any], width: float) -> dict[str, Any]:
    """Give each category a colour, shape or dash, with a legend as wide as the plot."""
    return nominal(
        field,
        scale={"domain": list(names), "range": list(values[: len(names)])},
        legend={"columns": legend_columns(names, width)},
    )


def text_of(field: str) -> dict[str, str]:
    return {"field": field, "type": "nominal"}


def tooltip(*fields: tuple[str, str]) -> list[dict[str, str]]:
    """Describe a mark on hover: pairs of a heading and the data field that has its text."""
    return [{**text_of(field), "title": title} for field, title in fields]


# Width of a legend entry without its text.
_ENTRY = 34


def legend_characters(width: float) -> int:
    """Return how many characters of a name fit into a legend as wide as the plot; at least a few.

    >>> legend_characters(253), legend_characters(600)
    (34, 34)
    """
    return max(NARROW.longest_name, min(WIDE.longest_name, int((width - _ENTRY) // LETTER)))


def legend_columns(names: Sequence[str], width: float) -> int:
    """Return how many names fit next to each other in a legend above a plot.

    >>> legend_columns(["Reader of letters", "Other"], 400)
    2
    """
    longest = max(map(len, names), default=0)
    return max(1, int(width // (longest * LETTER + _ENTRY)))


def with_words(svg: str, words: Words) -> str:
    """Add a title, a description and the dark mode style to the SVG."""
    head, tag, rest = svg.partition(">")
    title, description = escape(clean(words.title)), escape(clean(words.description))
    spoken = f"<title>{title}</title><desc>{description}</desc>"
    return f'{head} role="img"{tag}{spoken}<style>{dark_style()}</style>{rest}'


def live_style() -> str:
    """Return the style of a page whose charts are drawn in the browser."""
    return dark_style(".chart-live ")


def dark_style(within: str = "") -> str:
    """Return the dark mode style of a picture, or of those `within` an element of a page."""
    rules = "".join(
        f'{within}[fill="{light}"]{{fill:{dark}}}{within}[stroke="{light}"]{{stroke:{dark}}}'
        for light, dark in _DARK.items()
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"
