"""The markup of facts: a page and its gold are generated from one text."""

import re
from collections.abc import Iterable
from html import escape

_TAGS = re.compile(r"</?(?:Number|Date)>")


def number(text: str) -> str:
    """A numeric fact with sign, parentheses, separators and percent, without a currency symbol."""
    return f"<Number>{text}</Number>"


def date(text: str) -> str:
    """A temporal fact: a date, a quarter, a year or a duration, without words around it."""
    return f"<Date>{text}</Date>"


def without_tags(gold: str) -> str:
    """The clean page of a gold page. No other characters are touched."""
    return _TAGS.sub("", gold)


def prose(text: str, **values: str) -> str:
    """A text of `content/*.toml` as gold HTML.

    `<n>` and `<d>` mark facts, `{name}` is replaced by a value that the page computes, and line
    breaks are ignored.

    >>> prose("due <d>May 1, 2030</d>, {amount}", amount=number("1,204"))
    'due <Date>May 1, 2030</Date>, <Number>1,204</Number>'
    """
    for short, tag in (("n", "Number"), ("d", "Date")):
        text = text.replace(f"<{short}>", f"<{tag}>").replace(f"</{short}>", f"</{tag}>")
    return " ".join(text.split()).format(**values)


def plain(text: str) -> str:
    """Text for a page: `&`, `<` and `>` escaped."""
    return escape(text, quote=False)


def td(body: str = "", style: str = "", span: int = 1) -> str:
    """One table cell on its own line, so that the texts of two cells are separated."""
    attributes = (f' colspan="{span}"' if span > 1 else "") + (f' style="{style}"' if style else "")
    return f"<td{attributes}>{body}</td>\n"


def tr(cells: Iterable[str], style: str = "") -> str:
    attribute = f' style="{style}"' if style else ""
    return f"<tr{attribute}>{''.join(cells)}</tr>\n"


def table(rows: Iterable[str], style: str = "") -> str:
    return f'<table cellpadding="0" cellspacing="0" style="{style}">\n{"".join(rows)}</table>\n'
