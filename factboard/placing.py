"""The pages that a model is asked about, and the facts of its answers in their text.

A folder or a ZIP holds ID.html. Inline tags of the labels, as in a campaign's export, are removed.
The canonical text is cut into pieces that fit into a request. A quote that is not in the text is
counted, and never becomes a suggestion.
"""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from portal.facts import (
    RefusedHtml,
    Span,
    TagError,
    check_spans,
    decode_html,
    read_tags,
    text_borders,
    trim_span,
)
from portal.files.archives import ArchiveFault, ArchiveLimits, open_archive
from scoring.metrics.answer import read_answer
from scoring.offline.terminal import BadInput

# --- pages and pieces ---------------------------------------------------------------------------

SUFFIXES = frozenset({".html", ".htm"})
_LIMITS = ArchiveLimits(total=2**50)


class PagesError(BadInput):
    """The pages cannot be read. The message names the file."""


@dataclass(frozen=True)
class Page:
    """A page; `name` is the name of its document in the campaign."""

    name: str
    text: str
    text_sha256: str
    borders: tuple[int, ...]


@dataclass(frozen=True)
class Piece:
    """A part of a page as a model reads it: a table cell or block begins with a new line, which
    the page's text does not have. `places[i]` is the offset in the page of `shown[i]`."""

    id: str
    page: Page
    start: int
    end: int

    @property
    def shown(self) -> str:
        return "".join(self.page.text[a:b] + after for a, b, after in self._stretches())

    @property
    def places(self) -> list[int]:
        offsets: list[int] = []
        for start, end, after in self._stretches():
            offsets.extend(range(start, end))
            offsets.extend([end] * len(after))
        return offsets

    def _stretches(self) -> Iterator[tuple[int, int, str]]:
        borders = self.page.borders
        inside = borders[bisect_right(borders, self.start) : bisect_right(borders, self.end - 1)]
        edges = [self.start, *inside, self.end]
        for start, end in pairwise(edges):
            yield start, end, "\n" if end < self.end else ""


def read_pages(path: Path, labels: Sequence[str]) -> list[Page]:
    """Every page of a folder or ZIP by name. Raises PagesError."""
    if not path.exists():
        raise PagesError(f"{path}: no such file or folder")
    pages: dict[str, Page] = {}
    try:
        with open_archive(path, _LIMITS) as archive:
            for member in sorted(archived.name for archived in archive.members()):
                name = PurePosixPath(member)
                if name.suffix.lower() not in SUFFIXES:
                    continue
                where = f"{path}/{member}"
                if name.stem in pages:
                    raise PagesError(f"{where}: another page is also named {name.stem}")
                pages[name.stem] = _page(name.stem, archive.read(member), labels, where)
    except ArchiveFault as fault:
        raise PagesError(f"{path}: {fault}") from fault
    if not pages:
        raise PagesError(f"{path}: contains no ID.html")
    return list(pages.values())


def _page(name: str, data: bytes, labels: Sequence[str], where: str) -> Page:
    try:
        canonical = read_tags(decode_html(data), labels).canonical
    except (RefusedHtml, TagError, ValueError) as error:
        raise PagesError(f"{where}: {error}") from error
    return Page(name, canonical.text, canonical.text_sha256, text_borders(canonical.html))


def cut(page: Page, most: int) -> list[Piece]:
    """Pieces of at most `most` characters, which end at borders where that is possible."""
    pieces: list[Piece] = []
    start = 0
    while start < len(page.text):
        end = min(start + most, len(page.text))
        if end < len(page.text):
            before = bisect_right(page.borders, end)
            last = page.borders[before - 1] if before else 0
            end = last if last > start else end
        if page.text[start:end].strip():
            pieces.append(Piece(f"{page.name}#{len(pieces) + 1}", page, start, end))
        start = end
    return pieces


# --- quotes and places --------------------------------------------------------------------------

# Why a fact of an answer is no suggestion.
NOT_FOUND, REPEATED, OTHER_LABEL, NO_FACT = (
    "the quote is not in the text",
    "more often in the answer than in the text",
    "another label",
    "not an object with label and quote",
)
UNREADABLE = "the answer is not a JSON array"
_MOST_FACTS = 5_000
_LONGEST_QUOTE = 1_000


class NamedFact(NamedTuple):
    """A fact as a model names it."""

    label: str
    quote: str
    before: str


@dataclass
class Placed:
    """The suggestions of a piece, the number of facts that could not be placed, by reason, and how
    many of several equal quotes were chosen by their order alone."""

    spans: list[Span] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    by_order: int = 0


def place_answer(answer: str, piece: Piece, labels: Sequence[str]) -> Placed:
    """The suggestions of an answer, in text order, without overlaps."""
    placed = Placed()
    text, _ = read_answer(answer, "json")
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list):
        placed.left_out[UNREADABLE] += 1
        return placed
    finder = _Finder(piece)
    known = {label.lower(): label for label in labels}
    for entry in entries[:_MOST_FACTS]:
        fact = _named(entry)
        label = known.get(fact.label.lower()) if fact else None
        if fact is None or label is None:
            placed.left_out[NO_FACT if fact is None else OTHER_LABEL] += 1
            continue
        finder.place(fact, label, placed)
    placed.left_out[NO_FACT] += max(len(entries) - _MOST_FACTS, 0)
    placed.spans.sort()
    return placed


def _named(entry: object) -> NamedFact | None:
    if not isinstance(entry, dict):
        return None
    label, quote, before = entry.get("label"), entry.get("quote"), entry.get("before", "")
    if not isinstance(label, str) or not isinstance(quote, str):
        return None
    if not quote.strip() or len(quote) > _LONGEST_QUOTE:
        return None
    return NamedFact(label.strip(), quote, before if isinstance(before, str) else "")


class _Finder:
    """Places of quotes in a piece. Facts come in the order of the text, as a rule."""

    def __init__(self, piece: Piece) -> None:
        self._piece = piece
        self._shown, self._places = piece.shown, piece.places
        self._taken: list[tuple[int, int]] = []
        self._last = 0

    def place(self, fact: NamedFact, label: str, placed: Placed) -> None:
        matches = [match.span() for match in _pattern(fact.quote).finditer(self._shown)]
        free = [match for match in matches if self._is_free(match)]
        if not free:
            placed.left_out[REPEATED if matches else NOT_FOUND] += 1
            return
        fitting = [match for match in free if self._follows(fact.before, match[0])] or free
        later = [match for match in fitting if match[0] >= self._last]
        start, end = (later or fitting)[0]
        span = self._span(start, end, label)
        if check_spans(self._piece.page.text, [span], [label]):
            placed.left_out[NOT_FOUND] += 1
            return
        placed.by_order += len(fitting) > 1
        placed.spans.append(span)
        self._taken.append((start, end))
        self._last = end

    def _span(self, start: int, end: int, label: str) -> Span:
        span = Span(self._places[start], self._places[end - 1] + 1, label)
        return trim_span(self._piece.page.text, span)

    def _is_free(self, match: tuple[int, int]) -> bool:
        return all(match[1] <= start or match[0] >= end for start, end in self._taken)

    def _follows(self, before: str, start: int) -> bool:
        """Whether the text before a place ends with these words, whatever the white space."""
        words = "".join(before.split())
        behind = "".join(self._shown[max(start - 4 * len(before) - 40, 0) : start].split())
        return bool(words) and behind.endswith(words)


def _pattern(quote: str) -> re.Pattern[str]:
    """The quote with any white space between its words, and not as a part of a longer word or
    number: `200` is not in `1,200`."""
    words = r"\s+".join(re.escape(word) for word in quote.split())
    first, last = quote.strip()[0], quote.strip()[-1]
    left = r"(?<!\w)(?<!\d[.,])" if first.isalnum() else ""
    right = r"(?!\w)(?![.,]\d)" if last.isalnum() else ""
    return re.compile(left + words + right)
