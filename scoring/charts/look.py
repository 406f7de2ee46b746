"""How charts look: colours, fonts, and the style that turns them dark where the reader's page is.

The colours are those of static/css/tokens.css. A picture is drawn in the light ones; a style in the
SVG exchanges each for its dark twin, so that one file serves both.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

PAPER, INK, MUTED, HAIRLINE = "#fdfcfa", "#1c2024", "#555d66", "#d9d6cf"
ACCENT, ORANGE = "#0b6156", "#9c4700"
# In the order in which groups and the best systems get them; the shapes are the second cue.
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
    """How much room a picture has: its width, how many letters a name and what heads a line of it
    may have, and how far the lines between two orders go."""

    width: int
    longest_name: int
    longest_head: int
    between: int


# Of one letter on average, at the size of names.
LETTER = 6.4
PADDING = 4
WIDE = Room(width=680, longest_name=34, longest_head=34, between=220)
# What a telephone shows without scrolling.
NARROW = Room(width=350, longest_name=16, longest_head=22, between=96)

# What XML 1.0 cannot say.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Text on one line, without what an SVG cannot hold."""
    return " ".join(_FORBIDDEN.sub("", text).split())


def short_names(names: Sequence[str], longest: int = WIDE.longest_name) -> list[str]:
    """Names as charts have them: cleaned, not too long, each another, so that none covers another.

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
        # What is alike at the beginning is told apart by its end.
        text = _cut(whole, longest, end=longest // 2) if begun[text] > 1 else text
        number, told = 2, text
        while told in seen:
            told, number = f"{text} ({number})", number + 1
        seen.add(told)
        shown.append(told)
    return shown


def _cut(text: str, longest: int, end: int = 0) -> str:
    """The text with so many letters at most, `end` of which are its last ones."""
    if len(text) <= longest:
        return text
    return f"{text[: longest - 1 - end]}…{text[len(text) - end :]}"


class Words(NamedTuple):
    """What a picture says of itself to who cannot see it."""

    title: str
    told: str


# Whoever looks at a chart may have one row of it stand out; in a picture none does. Names are
# compared as data.
HIGHLIGHT = "highlight"
PARAMS: list[dict[str, Any]] = [{"name": HIGHLIGHT, "value": ""}]


def standing_out(opacity: float = 1) -> dict[str, Any]:
    """Marks of the row that is to stand out, or all of them, as they are; others fainter."""
    test = f"{HIGHLIGHT} === '' || datum.name === {HIGHLIGHT}"
    return {"condition": {"test": test, "value": opacity}, "value": 0.12}


def tooltip(*fields: tuple[str, str]) -> list[dict[str, str]]:
    """What is told of a mark that somebody points at: texts of the data by field, each with what it
    is headed by."""
    return [{"field": field, "type": "nominal", "title": title} for field, title in fields]


# What an entry of a legend has beside its letters.
_ENTRY = 34


def legend_letters(width: float) -> int:
    """So many letters may a name in a legend have that is as wide as the plot; a few at least.

    >>> legend_letters(253), legend_letters(600)
    (34, 34)
    """
    return max(NARROW.longest_name, min(WIDE.longest_name, int((width - _ENTRY) // LETTER)))


def legend_columns(names: Sequence[str], width: float) -> int:
    """So many names fit beside each other above a plot, where its legend begins.

    >>> legend_columns(["Reader of letters", "Other"], 400)
    2
    """
    longest = max(map(len, names), default=0)
    return max(1, int(width // (longest * LETTER + _ENTRY)))


def with_words(svg: str, words: Words) -> str:
    """The SVG with a title, a description, and the style that makes it dark."""
    head, tag, rest = svg.partition(">")
    spoken = f"<title>{escape(clean(words.title))}</title><desc>{escape(clean(words.told))}</desc>"
    return f'{head} role="img"{tag}{spoken}<style>{dark_style()}</style>{rest}'


def live_style() -> str:
    """The style of a page with charts that its browser draws."""
    return dark_style(".chart-live ")


def dark_style(within: str = "") -> str:
    """The style of a picture, or of those `within` an element of a page."""
    rules = "".join(
        f'{within}[fill="{light}"]{{fill:{dark}}}{within}[stroke="{light}"]{{stroke:{dark}}}'
        for light, dark in _DARK.items()
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"
