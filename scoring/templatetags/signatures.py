"""How signatures are shown."""

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

BAR_AND_BREAK = mark_safe("|<wbr>")


@register.filter
def breakable(signature: str) -> SafeString:
    """The signature with leave to break the line after each bar, and nowhere else."""
    return format_html_join(BAR_AND_BREAK, "{}", ((part,) for part in signature.split("|")))
