"""How signatures are shown, and markup without the white space that templates are laid out by."""

import re

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

BAR_AND_BREAK = mark_safe("|<wbr>")
_AROUND_LINE_BREAKS = re.compile(r"\s*\n\s*")


@register.filter
def breakable(signature: str) -> SafeString:
    """The signature with leave to break the line after each bar, and nowhere else."""
    return format_html_join(BAR_AND_BREAK, "{}", ((part,) for part in signature.split("|")))


@register.filter(is_safe=True)
def unindented(html: str) -> str:
    """Every stretch of white space with a line break in it as a line break alone: the same words
    and gaps to a browser. Not for what stands in `pre` or `textarea`.

    >>> unindented("<td>  1\\n\\n    </td> <td>2</td>")
    '<td>  1\\n</td> <td>2</td>'
    """
    return _AROUND_LINE_BREAKS.sub("\n", html)
