"""Heads of tables, so that a template names its columns in one line."""

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def columns(*names: str) -> SafeString:
    """Return a `<thead>` with one row. `#` before a name aligns the column's figures to the right;
    a name in parentheses is only read by screen readers, for columns of buttons."""
    return format_html(
        "<thead><tr>{}</tr></thead>", format_html_join("", "{}", ((_head(name),) for name in names))
    )


def _head(name: str) -> SafeString:
    if name.startswith("#"):
        return format_html('<th scope="col" class="num">{}</th>', name[1:])
    if name.startswith("("):
        return format_html(
            '<th scope="col"><span class="visually-hidden">{}</span></th>', name.strip("()")
        )
    return format_html('<th scope="col">{}</th>', name)
