"""How the review's pages write shares."""

from django import template

register = template.Library()


@register.filter
def percent(share: float) -> str:
    """A share of 0 to 1 with at most one decimal, such as 5 % or 97.5 %.

    >>> percent(0.05), percent(0.9754)
    ('5\\xa0%', '97.5\\xa0%')
    """
    return f"{100 * share:.1f}".removesuffix(".0") + "\N{NO-BREAK SPACE}%"
