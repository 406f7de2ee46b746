"""Markup without the white space that templates are laid out by."""

import re

from django import template

register = template.Library()

_AROUND_LINE_BREAKS = re.compile(r"\s*\n\s*")


@register.filter(is_safe=True)
def unindented(html: str) -> str:
    """Every stretch of white space with a line break in it as a line break alone: the same words
    and gaps to a browser. Not for what stands in `pre` or `textarea`.

    >>> unindented("<td>  1\\n\\n    </td> <td>2</td>")
    '<td>  1\\n</td> <td>2</td>'
    """
    return _AROUND_LINE_BREAKS.sub("\n", html)
