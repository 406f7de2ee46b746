"""The parts of a page that a browser shows, for outputs written as HTML.

Comments, the page's title, and elements that are hidden, invisible, cut off or moved out of view
are removed. Elements are followed as a browser does, without a tree: every step takes constant
time on average, for any nesting. Rules of a style sheet count if their selector is one tag, class
or id.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from html import unescape
from typing import NamedTuple

from portal.facts.cleaning import declarations
from portal.facts.markup import FORMATTING_ELEMENTS, VOID_ELEMENTS, Kind, Token, tokens
from portal.facts.page_text import HIDDEN_NESTING, HIDDEN_RAW
from portal.facts.xhtml import is_xhtml

HIDDEN = "hidden text removed"
COMMENTS = "comments removed"
TITLE = "page title removed"

# The content of these is never shown. That of a style is no text, and every reader leaves it out.
_NOT_TEXT = HIDDEN_RAW - {"style"} | {"noembed", "noframes"}
_GONE_ELEMENTS = HIDDEN_NESTING | {"datalist", "rp"}


def shown_html(html: str) -> tuple[str, list[str]]:
    """Return a page without what a browser does not show, and the names of what was removed. A text
    without markup is returned as it is.

    >>> shown_html('<p>7,200 <span style="display:none">1,200</span></p>')
    ('<p>7,200 </p>', ['hidden text removed'])
    """
    if "<" not in html or ">" not in html or not _may_hide(html):
        return html, []
    page = list(tokens(html, xml=is_xhtml(html)))
    walk = _Walk(html, _style_rules(html, page))
    for token in page:
        walk.take(token)
    return (walk.shown(), sorted(walk.removed)) if walk.removed else (html, [])


# --- styles -------------------------------------------------------------------------------------

Declared = Mapping[str, str]
_NONE: Declared = {}
_ATTRIBUTE = re.compile(r"""([^\s=>"'/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?""")
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_CSS_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_RULE = re.compile(r"([^{}]*)\{([^{}]*)\}")
_SELECTOR = re.compile(r"([a-z][\w-]*)?([.#][\w-]+)?", re.IGNORECASE)


class Tag(NamedTuple):
    """The parts of a start tag that change how its element looks."""

    name: str
    keys: tuple[str, ...]
    style: Declared
    is_hidden: bool
    is_open: bool
    color: str
    background: str
    has_size: bool


@lru_cache(maxsize=4096)
def _read_tag(source: str, name: str) -> Tag:
    attributes: dict[str, str] = {}
    for found in _ATTRIBUTE.finditer(source, 1 + len(name)):
        value = next((part for part in found.group(2, 3, 4) if part is not None), "")
        attributes.setdefault(found[1].lower(), unescape(value))
    classes = [f".{each}" for each in attributes.get("class", "").split()]
    own = [f"#{attributes['id'].strip()}"] if attributes.get("id", "").strip() else []
    return Tag(
        name=name,
        keys=tuple(classes + own),
        style=_declared(attributes["style"]) if "style" in attributes else _NONE,
        is_hidden="hidden" in attributes,
        is_open="open" in attributes,
        color=_color(attributes.get("color" if name == "font" else "text", "")),
        background=_color(attributes.get("bgcolor", "")),
        has_size=name == "font" and "size" in attributes,
    )


def _declared(style: str) -> Declared:
    if "/*" in style:
        style = _CSS_COMMENT.sub("", style)
    if "\\" in style:
        style = _CSS_ESCAPE.sub(_unescaped, style)
    return declarations(style)


def _unescaped(found: "re.Match[str]") -> str:
    if not found[1]:
        return str(found[2])
    code = int(found[1], 16)
    return chr(code) if code <= 0x10FFFF else "\N{REPLACEMENT CHARACTER}"


class _Rules(NamedTuple):
    """Declarations by selector. `knows_colors` unless a rule that is not followed sets colours."""

    by_key: Mapping[str, Declared]
    knows_colors: bool


_NO_RULES = _Rules({}, knows_colors=True)


def _style_rules(html: str, page: Iterable[Token]) -> _Rules:
    by_key: defaultdict[str, dict[str, str]] = defaultdict(dict)
    knows_colors = True
    for token in page:
        if token.kind is not Kind.RAW or token.name != "style":
            continue
        for found in _RULE.finditer(_CSS_COMMENT.sub("", html[token.start : token.end])):
            declared = _declared(found[2])
            for selector in found[1].split(","):
                simple = _SELECTOR.fullmatch(selector.strip())
                if simple and simple[0]:
                    by_key[f"{(simple[1] or '').lower()}{simple[2] or ''}"].update(declared)
                elif "color" in found[2] or "background" in found[2]:
                    knows_colors = False
    return _Rules(by_key, knows_colors)


def _style_of(tag: Tag, rules: Mapping[str, Declared]) -> Declared:
    if not rules:
        return tag.style
    keys = [tag.name, *tag.keys, *(f"{tag.name}{key}" for key in tag.keys)]
    known = [rules[key] for key in keys if key in rules]
    if not known:
        return tag.style
    merged: dict[str, str] = {}
    for declared in (*known, tag.style):
        merged |= declared
    return merged


# --- looks --------------------------------------------------------------------------------------

_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([a-z]*|%)")
_NUMBERS = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([a-z]+|%)?")
# Pixels of a unit; a percentage or a share of the window is taken of 1,000 pixels.
_PIXELS = {
    "": 1.0,
    "px": 1.0,
    "pt": 1.33,
    "pc": 16.0,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
    "ch": 8.0,
    "in": 96.0,
    "cm": 37.8,
    "mm": 3.78,
    "%": 10.0,
    "vw": 10.0,
    "vh": 10.0,
    "vmin": 10.0,
    "vmax": 10.0,
}
# Text of this size or less cannot be read; a box of this size shows none.
_TINY = 1.4
_FAINT = 0.05
# A box or line moved this far to the left or up, or that far to the right or down, is out of view.
_OUT_BEFORE, _OUT_AFTER = -100.0, 3000.0
_FAR_BEFORE = -500.0
# A share of the element's own size: turned text is moved by all of it.
_BY_OWN_SIZE = -2000.0
_SIDES = ("left", "top", "right", "bottom")


def _pixels(value: str) -> float | None:
    """
    >>> _pixels("-9999px"), _pixels("2em"), _pixels("auto")
    (-9999.0, 32.0, None)
    """
    found = _NUMBER.fullmatch(value)
    unit = _PIXELS.get(found[2]) if found else None
    return float(found[1]) * unit if found and unit is not None else None


def _is_at_most(value: str, most: float) -> bool:
    pixels = _pixels(value)
    return pixels is not None and pixels <= most


class Look(NamedTuple):
    """How an element looks: those that are gone take no room, those that are covered cannot show
    again inside; the others are inherited and can be set again.

    Colours are in one form; an unknown one is empty.
    """

    gone: bool = False
    covered: bool = False
    invisible: bool = False
    tiny: bool = False
    color: str = "black"
    background: str = "white"
    folded: bool = False

    @property
    def is_shown(self) -> bool:
        return not (
            self.gone
            or self.covered
            or self.invisible
            or self.tiny
            or self.color == "transparent"
            or (self.color != "" and self.color == self.background)
        )


_PLAIN_LOOK = Look()


def _look(parent: Look, tag: Tag, rules: _Rules) -> Look:
    style = _style_of(tag, rules.by_key)
    if style is _NONE and not _is_special(tag) and not parent.folded:
        return parent
    return Look(
        gone=parent.gone or _is_gone(tag, style) or (parent.folded and tag.name != "summary"),
        covered=parent.covered or _is_covered(style),
        invisible=_is_invisible(parent, style),
        tiny=_is_tiny(parent, tag, style),
        color=_own_color(parent, tag, style) if rules.knows_colors else "",
        background=_own_background(parent, tag, style),
        folded=tag.name == "details" and not tag.is_open,
    )


def _is_special(tag: Tag) -> bool:
    return bool(
        tag.is_hidden
        or tag.color
        or tag.background
        or tag.has_size
        or tag.name in _GONE_ELEMENTS
        or tag.name in ("dialog", "details")
    )


def _is_gone(tag: Tag, style: Declared) -> bool:
    display = style.get("display")
    if display == "none" or style.get("content-visibility") == "hidden":
        return True
    if tag.name in _GONE_ELEMENTS or (tag.name == "dialog" and not tag.is_open):
        return display is None
    return tag.is_hidden and display is None


def _is_invisible(parent: Look, style: Declared) -> bool:
    visibility = style.get("visibility", "inherit")
    if visibility in ("hidden", "collapse"):
        return True
    return parent.invisible and visibility != "visible"


_FONT_SIZE = re.compile(r"(?:^|\s)([+-]?(?:\d+\.?\d*|\.\d+)(?:[a-z]+|%)?)(?:/|\s|$)")


def _is_tiny(parent: Look, tag: Tag, style: Declared) -> bool:
    size = style.get("font-size")
    if size is None and "font" in style:
        found = _FONT_SIZE.search(style["font"])
        size = found[1] if found else "medium"
    if size is None or size in ("inherit", "smaller", "larger"):
        return parent.tiny and not tag.has_size
    if size.endswith(("em", "%")) and not size.endswith("rem"):
        return parent.tiny or _is_at_most(
            size.replace("%", "em"), 16 * (8 if "%" in size else 0.08)
        )
    return _is_at_most(size, _TINY)


def _is_covered(style: Declared) -> bool:
    return bool(style) and any(rule(style) for rule in _COVERS)


def _is_faint(style: Declared) -> bool:
    opacity = style.get("opacity", "")
    return _share(opacity) <= _FAINT or style.get("filter", "").startswith(
        ("opacity(0)", "opacity(0%)")
    )


def _share(value: str) -> float:
    found = _NUMBER.fullmatch(value)
    if found is None:
        return 1.0
    return float(found[1]) / (100 if found[2] == "%" else 1)


def _is_cut_off(style: Declared) -> bool:
    """Whether the box has no width or height and hides what is outside of it."""
    overflow = (style.get(name, "") for name in ("overflow", "overflow-x", "overflow-y"))
    if not any("hidden" in value or "clip" in value for value in overflow):
        return False
    sizes = (style.get(name, "") for name in ("height", "max-height", "width", "max-width"))
    return any(_is_at_most(size, _TINY) for size in sizes)


def _is_clipped(style: Declared) -> bool:
    path = style.get("clip-path", "")
    values = [float(number) for number, _ in _NUMBERS.findall(path)]
    if path.startswith("inset("):
        return bool(values) and "%" in path and max(values) >= 50
    if path.startswith(("circle(", "ellipse(")):
        return bool(values) and values[0] == 0
    edges = [float(number) for number, _ in _NUMBERS.findall(style.get("clip", ""))]
    if len(edges) != len(_SIDES) or not style.get("clip", "").startswith("rect("):
        return False
    top, right, bottom, left = edges
    return bottom - top <= _TINY or right - left <= _TINY


def _is_out_of_view(style: Declared) -> bool:
    if style.get("position") in ("absolute", "fixed"):
        for side in _SIDES:
            pixels = _pixels(style.get(side, ""))
            if pixels is not None and (pixels <= _OUT_BEFORE or pixels >= _OUT_AFTER):
                return True
    if _is_at_most(style.get("text-indent", ""), _OUT_BEFORE):
        return True
    margins = (style.get(f"margin-{side}", "") for side in _SIDES)
    return any(_is_at_most(margin, _FAR_BEFORE) for margin in margins)


def _is_transformed_away(style: Declared) -> bool:
    transform = style.get("transform", "") + " " + style.get("translate", "")
    if transform == " ":
        return style.get("zoom") == "0"
    if re.search(r"scale[xy]?\(\s*0*\.?0*\s*[,)]", transform):
        return True
    moves = _NUMBERS.findall(transform) if "translate" in transform or "translate" in style else []
    return any(
        float(number) * _PIXELS.get(unit, 0) <= (_BY_OWN_SIZE if unit == "%" else _FAR_BEFORE)
        for number, unit in moves
    )


_COVERS: tuple[Callable[[Declared], bool], ...] = (
    _is_faint,
    _is_cut_off,
    _is_clipped,
    _is_out_of_view,
    _is_transformed_away,
)

_HEX = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_FUNCTION = re.compile(r"(?:rgb|hsl)a?\(([^()]*)\)")
_NAMED = {"#ffffff": "white", "#000000": "black", "rgb(255,255,255)": "white"}


@lru_cache(maxsize=4096)
def _color(value: str) -> str:
    """Return a colour in one form; empty for one that is not known.

    >>> _color("#FFF"), _color("rgb(255, 255, 255)"), _color("rgba(0,0,0,0)"), _color("var(--x)")
    ('white', 'white', 'transparent', '')
    """
    value = value.strip().lower()
    if found := _HEX.fullmatch(value):
        digits = found[1] if len(found[1]) > 4 else "".join(2 * digit for digit in found[1])
        if digits[6:] == "00":
            return "transparent"
        return _NAMED.get(f"#{digits[:6]}", f"#{digits[:6]}")
    if found := _FUNCTION.fullmatch(value):
        parts = re.split(r"[\s,/]+", found[1].strip())
        if len(parts) > 3 and _share(parts[3]) <= _FAINT:
            return "transparent"
        if value.startswith("hsl"):
            return ""
        if all(part.isdecimal() and len(part) < 4 for part in parts[:3]) and len(parts) >= 3:
            return _color("#" + "".join(f"{min(int(part), 255):02x}" for part in parts[:3]))
        return ""
    return value if value.isalpha() and value not in ("inherit", "currentcolor", "initial") else ""


def _own_color(parent: Look, tag: Tag, style: Declared) -> str:
    if "color" in style:
        return parent.color if style["color"] == "inherit" else _color(style["color"])
    return tag.color or parent.color


def _own_background(parent: Look, tag: Tag, style: Declared) -> str:
    for name in ("background-color", "background"):
        if name in style:
            color = _color(style[name])
            return parent.background if color == "transparent" or style[name] == "none" else color
    return tag.background or parent.background


# --- pages that hide nothing --------------------------------------------------------------------

_HIDING_TAG = re.compile(
    r"<(?:!--|title|script|style|iframe|noembed|noframes|template|noscript|dialog|details|datalist|rp)"
)
_STYLE_ATTRIBUTE = re.compile(r"""style\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""")
_COLOR_ATTRIBUTE = re.compile(r"""(?<!bg)(color|\stext)\s*=\s*["']?([^\s"'>]+)""")
_BACKGROUND_ATTRIBUTE = re.compile(r"""bgcolor\s*=\s*["']?([^\s"'>]+)""")


def _may_hide(html: str) -> bool:
    """Whether any part of a page can be hidden: most pages hide nothing, and need no walk."""
    low = html.lower()
    if "hidden" in low or _HIDING_TAG.search(low):
        return True
    styles = {"".join(values) for values in _STYLE_ATTRIBUTE.findall(low)}
    looks = [_look_of(style) for style in styles]
    if any(look.gone or look.covered or look.invisible or look.tiny for look in looks):
        return True
    colors = {look.color for look in looks} | {_PLAIN_LOOK.color}
    backgrounds = {look.background for look in looks} | {_PLAIN_LOOK.background}
    if "color" in low or "text" in low:
        colors |= {_color(value) for _, value in _COLOR_ATTRIBUTE.findall(low)}
        backgrounds |= {_color(value) for value in _BACKGROUND_ATTRIBUTE.findall(low)}
    return "transparent" in colors or bool((colors & backgrounds) - {""})


@lru_cache(maxsize=4096)
def _look_of(style: str) -> Look:
    """Return how an element with this style looks on a plain page."""
    tag = Tag("span", (), _declared(unescape(style)), False, False, "", "", False)
    return _look(_PLAIN_LOOK, tag, _NO_RULES)


# --- the walk -----------------------------------------------------------------------------------

_TABLE = ("table",)
_CELLS = ("td", "th", "caption")
_SCOPES = (*_CELLS, "table", "template")
_ROWS = ("tr", *_CELLS)
_GROUPS = ("thead", "tbody", "tfoot", "colgroup", *_ROWS)
# Elements that an opening tag closes first, if they are open above the nearest of the second ones.
_CLOSES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "li": (("li",), (*_SCOPES, "ul", "ol")),
    "dt": (("dt", "dd"), (*_SCOPES, "dl")),
    "dd": (("dt", "dd"), (*_SCOPES, "dl")),
    "td": (_CELLS, _TABLE),
    "th": (_CELLS, _TABLE),
    "tr": (_ROWS, _TABLE),
    "option": (("option",), ("select", "datalist")),
    **dict.fromkeys(("thead", "tbody", "tfoot"), (_GROUPS, _TABLE)),
}
_IN_TABLES = frozenset({"table", *_GROUPS})
# Elements that end a paragraph, and that the end tag of an element within a line does not close.
_BLOCKS = frozenset(
    "article aside blockquote body center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html li listing main "
    "menu nav noscript ol p pre search section summary table template ul".split()
) | {"address"}
_SPECIAL = _BLOCKS | _IN_TABLES


class _Open(NamedTuple):
    name: str
    look: Look


class _Walk:
    """Takes the tokens of a page one by one, and cuts what is not shown."""

    def __init__(self, html: str, rules: _Rules) -> None:
        self.removed: set[str] = set()
        self._html = html
        self._rules = rules
        self._stack: list[_Open] = []
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        self._special: list[int] = []
        # Names of hiding elements that a parser opens again in the next block.
        self._reopened: list[str] = []
        self._pieces: list[str] = []
        self._position = 0

    def shown(self) -> str:
        return "".join([*self._pieces, self._html[self._position :]])

    @property
    def _look(self) -> Look:
        return self._stack[-1].look if self._stack else _PLAIN_LOOK

    def take(self, token: Token) -> None:
        kind = token.kind
        if kind is Kind.TEXT:
            self._take_text(token)
        elif kind is Kind.START:
            self._start(token)
        elif kind is Kind.END:
            self._end(token)
        elif kind is Kind.COMMENT or not token.name:
            self._take_comment(token)
        elif token.name == "title":
            self._cut(token, TITLE)
        elif token.name in _NOT_TEXT:
            self._cut(token, HIDDEN)
        elif token.name != "style":
            self._take_text(token)

    def _cut(self, token: Token, what: str) -> None:
        self._pieces.append(self._html[self._position : token.start])
        self._position = token.end
        if what and not self._html[token.start : token.end].isspace():
            self.removed.add(what)

    def _take_text(self, token: Token) -> None:
        look = self._look
        if self._reopened or look.folded or (look is not _PLAIN_LOOK and not look.is_shown):
            self._cut(token, HIDDEN)

    def _take_comment(self, token: Token) -> None:
        if self._html.startswith("<!--", token.start):
            self._cut(token, COMMENTS)

    def _start(self, token: Token) -> None:
        name = token.name
        if name in _BLOCKS:
            self._close(("p",), _SCOPES)
        if name in _CLOSES:
            self._close(*_CLOSES[name])
        tag = _read_tag(self._html[token.start : token.end], name)
        look = _look(self._look, tag, self._rules)
        if look.gone or name == "title":
            self._cut(token, "")
        if name in VOID_ELEMENTS:
            return
        self._places[name].append(len(self._stack))
        if name in _SPECIAL:
            self._special.append(len(self._stack))
        self._stack.append(_Open(name, look))

    def _end(self, token: Token) -> None:
        name = token.name
        if name in self._reopened:
            self._reopened.remove(name)
        place = self._last((name,))
        if place < 0 or place < self._barrier(name):
            if name == "title" or self._look.gone:
                self._cut(token, "")
            return
        if self._stack[place].look.gone or name == "title":
            self._cut(token, "")
        self._drop(place, by=name)

    def _barrier(self, name: str) -> int:
        """The nearest open element that the end tag does not close."""
        if name in _IN_TABLES:
            return self._last(_TABLE) if name != "table" else -1
        if name in _SPECIAL:
            return self._last(_SCOPES)
        return self._special[-1] if self._special else -1

    def _close(self, names: Sequence[str], stops: Sequence[str]) -> None:
        """Close the nearest open elements of `names` above the nearest stop, and those inside."""
        stop = self._last([name for name in stops if name not in names])
        places = (self._last((name,)) for name in names)
        if above := [place for place in places if place > stop]:
            self._drop(min(above))

    def _last(self, names: Sequence[str]) -> int:
        """The place of the nearest open element of `names`; -1 if there is none."""
        return max((self._places[name][-1] for name in names if self._places[name]), default=-1)

    def _drop(self, place: int, by: str = "") -> None:
        while len(self._stack) > place:
            name, look = self._stack.pop()
            self._places[name].pop()
            if name in _SPECIAL:
                self._special.pop()
            is_left_open = len(self._stack) > place or name != by
            if is_left_open and name in FORMATTING_ELEMENTS and not look.is_shown:
                self._remember(name)

    def _remember(self, name: str) -> None:
        """A parser opens a formatting element again that was closed with its block, so what
        follows is hidden until its own end tag."""
        if self._look.is_shown and name not in self._reopened:
            self._reopened.append(name)
