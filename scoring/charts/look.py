"""The look of charts: colours, fonts, and the style of dark mode.

The neutral colours are those of static/css/tokens.css. Pictures are drawn in light colours; a style
in the SVG replaces each with its dark counterpart, so that one file serves both.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"

PAPER, INK, MUTED, HAIRLINE = "#fdfcfa", "#1c2024", "#555d66", "#d9d6cf"
ACCENT, ORANGE = "#0b6156", "#9c4700"
# Groups and the best systems get them in this order. They differ to readers with any kind of colour
# blindness, in both schemes; a test measures it. Shapes are the second cue.
COLOURS = ("#0a4c96", "#e0620d", "#2a9d8f", "#a3307c", INK)
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
# Groups have one more, since all of them are drawn in the same chart.
_GROUP_COLOURS, _GROUP_SHAPES = (*COLOURS, MUTED), (*SHAPES, "triangle-down")

_DARK = {
    PAPER: "#15181b",
    INK: "#e6e7e8",
    MUTED: "#a3abb3",
    HAIRLINE: "#343a40",
    ACCENT: "#6fcdbb",
    ORANGE: "#f6a94e",
    "#0a4c96": "#5b9bf0",
    "#e0620d": "#ffb454",
    "#2a9d8f": "#4fd6b8",
    "#a3307c": "#d66fc4",
}


def dark_twin(colour: str) -> str:
    """Return the colour that replaces one in dark mode."""
    return _DARK[colour]


CONFIG: dict[str, Any] = {
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "labelFontSize": 13,
        "titleFontSize": 14,
        "titlePadding": 10,
        "gridColor": HAIRLINE,
        "domainColor": MUTED,
        "tickColor": MUTED,
        "labelLimit": 260,
    },
    "legend": {
        "labelColor": INK,
        "titleColor": INK,
        "labelFontSize": 13,
        "labelLimit": 300,
        "rowPadding": 4,
        "orient": "top",
        "symbolOpacity": 1,
    },
    "text": {"fontSize": 13, "color": INK},
}


class Room(NamedTuple):
    """The room of a picture: its width, the height of a plot, the most characters of a name and of
    a heading line, and the most small charts next to each other."""

    width: int
    height: int
    longest_name: int
    longest_head: int
    abreast: int


# The average width of one character, at the size of names.
LETTER = 6.9
PADDING = 6
# As wide as a page or a slide, and as a phone.
WIDE = Room(width=1080, height=420, longest_name=34, longest_head=34, abreast=4)
NARROW = Room(width=350, height=320, longest_name=15, longest_head=20, abreast=1)


class Margins(NamedTuple):
    """The room around a plot for axes, names and the legend."""

    left: int = PADDING
    right: int = PADDING
    top: int = PADDING
    bottom: int = PADDING


def framed(width: int, height: int, margins: Margins) -> dict[str, Any]:
    """Give a picture this size, of which the margins are not part of the plot. Sizes are fixed, so
    that a page knows them before the picture is drawn."""
    return {
        "width": width - margins.left - margins.right,
        "height": height - margins.top - margins.bottom,
        "autosize": "none",
        "padding": margins._asdict(),
    }


class Size(NamedTuple):
    width: int = 0
    height: int = 0


def size_of(spec: dict[str, Any]) -> Size:
    """Return the size of the picture of a specification."""
    margins = Margins(**spec["padding"])
    return Size(
        spec["width"] + margins.left + margins.right, spec["height"] + margins.top + margins.bottom
    )


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
    # How often each text was numbered, so that equal names are not counted from the start.
    numbers: Counter[str] = Counter()
    shown = []
    for whole in wholes:
        text = _cut(whole, longest)
        # Names with the same beginning are distinguished by their ends.
        text = _cut(whole, longest, end=longest // 2) if begun[text] > 1 else text
        shortened = text
        while shortened in seen:
            numbers[text] += 1
            shortened = f"{text} ({numbers[text] + 1})"
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


def drawn_groups(used: Iterable[str], known: Sequence[str]) -> list[str]:
    """Return the used groups, in the order of the known ones."""
    found = set(used)
    return [group for group in known if group in found]


def group_styles(drawn: Sequence[str], known: Sequence[str]) -> dict[str, list[str]]:
    """Return the colours and shapes of drawn groups by their place among the known ones, so that a
    group looks the same in every chart; none for a chart without groups."""
    places = [known.index(group) % len(_GROUP_COLOURS) for group in drawn]
    if not places:
        return {}
    return {
        "color": [_GROUP_COLOURS[at] for at in places],
        "shape": [_GROUP_SHAPES[at] for at in places],
    }


def without_legend(field: str, names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """Give each category a colour, shape or dash."""
    scale = {"domain": list(names), "range": list(values)}
    return {**text_of(field), "scale": scale, "legend": None}


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


# Width of a legend entry without its text, height of a line, and distance from the plot.
_ENTRY = 34
_LEGEND_LINE, _LEGEND_GAP = 19, 18


def legend_height(names: Sequence[str], width: float) -> int:
    """Return the room above a plot that its legend takes."""
    lines = -(-len(names) // legend_columns(names, width))
    return _LEGEND_LINE * lines + _LEGEND_GAP + PADDING


def legend_characters(width: float) -> int:
    """Return how many characters of a name fit into a legend as wide as the plot; at least a few.

    >>> legend_characters(230), legend_characters(600)
    (28, 34)
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
