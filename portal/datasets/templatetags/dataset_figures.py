"""Template filters for figures."""

from django import template

register = template.Library()


@register.filter
def percent(share: float | None) -> str:
    """Format a share from 0 to 1 in per cent with one decimal, or a dash for None."""
    return "–" if share is None else f"{100 * share:.1f}"
