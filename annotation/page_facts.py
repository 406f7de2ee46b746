"""Facts that rules find on a page, and the borders of its blocks and cells.

A page never changes, so both are cached in the process by the hash of its HTML. Computing them
takes longer than the rest of a save.
"""

import threading
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from portal.datasets.models import Document, DocumentContent
from portal.facts import FoundFact, find_facts, text_borders
from portal.web.queries import Parameter, Prepared

# About 20 MB: five hundred single pages, or thirty whole filings.
NUMBERS_KEPT = 2_500_000
# The size of a fact's objects, in numbers of eight bytes.
_PER_FACT = 16

_CONTENT = Prepared(
    lambda: DocumentContent.objects.filter(pk=Parameter("document")).values_list("html", "text")
)


class PageFacts(NamedTuple):
    """`borders` are the sorted text offsets at which a block or table cell begins, `facts` the
    numbers and dates in text order.
    """

    borders: Sequence[int]
    facts: Sequence[FoundFact]

    @property
    def size(self) -> int:
        return len(self.borders) + _PER_FACT * len(self.facts)


class _Pages:
    """A least-recently-used cache of pages, limited to a total size of `limit` numbers."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._pages: OrderedDict[str, PageFacts] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> PageFacts | None:
        with self._lock:
            if page := self._pages.get(key):
                self._pages.move_to_end(key)
            return page

    def keep(self, key: str, page: PageFacts) -> None:
        with self._lock:
            if key in self._pages or page.size > self._limit:
                return
            self._pages[key] = page
            self._size += page.size
            while self._size > self._limit:
                _, oldest = self._pages.popitem(last=False)
                self._size -= oldest.size


_pages = _Pages(NUMBERS_KEPT)


def page_facts(document: Document) -> PageFacts:
    """Borders and facts of the page, from the cache or with one query."""
    page = _pages.get(document.html_sha256)
    if page is None:
        ((html, text),) = _CONTENT.rows(document=document.pk)
        page = _found(document.html_sha256, html, text)
    return page


def content_facts(document: Document) -> PageFacts:
    """Like `page_facts`, without a query, for a document whose content is loaded."""
    page = _pages.get(document.html_sha256)
    content = document.content
    return page or _found(document.html_sha256, content.html, content.text)


def _found(key: str, html: str, text: str) -> PageFacts:
    borders = text_borders(html)
    page = PageFacts(array("L", borders), find_facts(text, borders))
    _pages.keep(key, page)
    return page
