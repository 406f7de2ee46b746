"""How annotation's pages name what they list."""

from django import template

from annotation.selectors.adjudication import letter_of

register = template.Library()


@register.filter
def letter(place: int) -> str:
    """A for the first annotator of a document, B for the second."""
    return letter_of(place)
