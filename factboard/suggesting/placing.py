"""Finds the facts of a model's answer in the text. A quote that is not there is counted, and never
becomes a suggestion."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from portal.facts import Span, check_spans, trim_span
from scoring.answering.rendering import repaired

from .pages import Piece

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
    text, _ = repaired(answer, "json")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        placed.left_out[UNREADABLE] += 1
        return placed
    finder = _Finder(piece)
    known = {label.lower(): label for label in labels}
    for entry in found[:_MOST_FACTS]:
        fact = _named(entry)
        label = known.get(fact.label.lower()) if fact else None
        if fact is None or label is None:
            placed.left_out[NO_FACT if fact is None else OTHER_LABEL] += 1
            continue
        finder.place(fact, label, placed)
    placed.left_out[NO_FACT] += max(len(found) - _MOST_FACTS, 0)
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
        matches = [found.span() for found in _pattern(fact.quote).finditer(self._shown)]
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
