"""How the pages of the workflow name what they list."""

from collections.abc import Sequence

from django import template

from annotation.selectors import screening

register = template.Library()


@register.filter
def fault_names(codes: Sequence[str]) -> list[str]:
    """Faults of screening in words."""
    return screening.fault_names(codes)
