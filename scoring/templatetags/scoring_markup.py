"""Tags and filters for signatures, and for tables of many rows."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

BAR_AND_BREAK = mark_safe("|<wbr>")
_AROUND_LINE_BREAKS = re.compile(r"\s*\n\s*")


@register.filter
def breakable(signature: str) -> SafeString:
    """The signature, with possible line breaks only after each bar."""
    return format_html_join(BAR_AND_BREAK, "{}", ((part,) for part in signature.split("|")))


@register.filter(is_safe=True)
def unindented(html: str) -> str:
    """Replaces each run of white space that contains a line break with a single line break.
    Browsers render the same. Not for `pre` or `textarea`.

    >>> unindented("<td>  1\\n\\n    </td> <td>2</td>")
    '<td>  1\\n</td> <td>2</td>'
    """
    return _AROUND_LINE_BREAKS.sub("\n", html)


@register.filter
def definitions(figures: Iterable[tuple[str, str, str]]) -> SafeString:
    """The rows of a definition list for figures of label, text and interval. A board shows hundreds
    of them, which a loop in a template takes ten times as long to render.

    >>> definitions([("R1", "61.00", ""), ("<b>", "", "0.4")])
    '<div><dt>R1</dt><dd>61.00</dd></div><div><dt>&lt;b&gt;</dt><dd> <small>0.4</small></dd></div>'
    """
    rows = (
        f"<div><dt>{escape(label)}</dt><dd>{escape(text)}{_note(interval)}</dd></div>"
        for label, text, interval in figures
    )
    return mark_safe("".join(rows))  # noqa: S308 - every text is escaped


def _note(text: str) -> str:
    return f" <small>{escape(text)}</small>" if text else ""


class _Kept(template.Node):
    def __init__(self, content: template.NodeList, names: Sequence[Any]) -> None:
        self._content = content
        self._memo, *self._keys = names

    def render(self, context: template.Context) -> SafeString:
        memo: dict[tuple[Any, ...], SafeString] = self._memo.resolve(context)
        key = tuple(name.resolve(context) for name in self._keys)
        if key not in memo:
            memo[key] = self._content.render(context)
        return memo[key]


@register.tag
def kept(parser: Any, token: Any) -> template.Node:
    """`{% kept MEMO KEY… %} … {% endkept %}`: renders its content once for these keys, and keeps it
    in MEMO, a dictionary. The content must depend on nothing else. Filters and pages of a large
    table show the same rows again and again."""
    names = [parser.compile_filter(name) for name in token.split_contents()[1:]]
    content = parser.parse(("endkept",))
    parser.delete_first_token()
    return _Kept(content, names)
