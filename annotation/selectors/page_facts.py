"""What our rules say about a page: its borders, and the facts in it.

A page never changes, so both are kept in the process, by the hash of its HTML: they take longer
than everything else that a save does.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from portal.datasets.models import Document, DocumentContent
from portal.facts import FoundFact, find_facts, text_borders

# A few megabytes for pages of the size of whole filings.
PAGES_KEPT = 32


@dataclass(frozen=True)
class _Page:
    """Pages with the same HTML are the same page; `document` is one that holds it."""

    html_sha256: str
    document: int = field(compare=False)

    def content(self) -> DocumentContent:
        return DocumentContent.objects.get(pk=self.document)


def page_borders(document: Document) -> Sequence[int]:
    """The sorted offsets of the text at which a block or table cell begins."""
    return _borders(_Page(document.html_sha256, document.pk))


def page_facts(document: Document) -> Sequence[FoundFact]:
    """The numbers and dates of the page, in text order."""
    return _facts(_Page(document.html_sha256, document.pk))


@lru_cache(maxsize=PAGES_KEPT)
def _borders(page: _Page) -> Sequence[int]:
    return array("L", text_borders(page.content().html))


@lru_cache(maxsize=PAGES_KEPT)
def _facts(page: _Page) -> Sequence[FoundFact]:
    return find_facts(page.content().text, _borders(page))
