"""Which attributes a document keeps, and what makes an inline style safe."""

import re
from functools import lru_cache

# The only pictures that need no address; a document's own files do not travel with its HTML.
_INLINE_PICTURE = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=\s]+")

# What a style needs to fetch something, or to hide that it does.
_FETCHES = re.compile(r"\\|@|url|image|src|expression|behavior|binding|/\*", re.IGNORECASE)
# What takes text out of its place: over other text, where it catches clicks, or out of view.
_DISPLACES = re.compile(
    r"\s*(?:position\s*:\s*(?:-webkit-)?(?:fixed|sticky)|(?:z-index|pointer-events|(?:-\w+-)?user-select)\s*:"
    r"|(?:margin|inset|top|left|right|bottom|text-indent|transform|translate)[\w-]*\s*:.*?-\s*\d{3})",
    re.IGNORECASE | re.DOTALL,
)
_PLAIN_DECLARATION = re.compile(r"""\s*[\w-]+\s*:[^"'()\\@{}<>/]+""")


def keep_attribute(element: str, attribute: str, value: str) -> str | None:
    """nh3's filter: the value to keep, or None to drop the attribute."""
    if attribute == "style":
        return safe_style(value)
    if element == "img" and attribute == "src":
        return value if _INLINE_PICTURE.fullmatch(value) else None
    if element == "input" and attribute == "type":
        return value if value.strip().lower() in ("checkbox", "radio") else "checkbox"
    return value


@lru_cache(maxsize=4096)
def safe_style(style: str) -> str | None:
    """The style without declarations that could load anything, or that lay the element over
    others: fixed and sticky positions, layers, and moves by 100 units or more to the left or up.
    None when nothing is left.

    >>> safe_style("color:red;background:url(https://example.org/x);position:fixed")
    'color:red'
    """
    parts = style.split(";")
    if _FETCHES.search(style):
        parts = [part for part in parts if _is_plain(part)]
    return ";".join(part for part in parts if not _DISPLACES.match(part)) or None


def _is_plain(declaration: str) -> bool:
    return bool(_PLAIN_DECLARATION.fullmatch(declaration)) and not _FETCHES.search(declaration)
