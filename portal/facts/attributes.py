"""Which attributes a document keeps, and what makes an inline style safe."""

import re
from functools import lru_cache

# The only pictures that need no address; a document's own files do not travel with its HTML.
_INLINE_PICTURE = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=\s]+")

# What a style needs to fetch something, or to hide that it does.
_FETCHES = re.compile(r"\\|@|url|image|src|expression|behavior|binding|/\*", re.IGNORECASE)
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
    """The style without declarations that could load anything; None when nothing is left.

    >>> safe_style("color:red;background:url(https://example.org/x)")
    'color:red'
    """
    if not _FETCHES.search(style):
        return style
    plain = [part for part in style.split(";") if _is_plain(part)]
    return ";".join(plain) or None


def _is_plain(declaration: str) -> bool:
    return bool(_PLAIN_DECLARATION.fullmatch(declaration)) and not _FETCHES.search(declaration)
