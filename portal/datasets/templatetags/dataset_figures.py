"""How pages of datasets write figures."""

from django import template

register = template.Library()


@register.filter
def percent(share: float | None) -> str:
    """A share, 0 to 1, in per cent with one decimal; a dash for none."""
    return "–" if share is None else f"{100 * share:.1f}"
