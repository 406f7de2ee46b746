"""Filters for signatures, and for markup without the templates' indentation."""

import re

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
