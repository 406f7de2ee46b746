"""Agreement between annotators: ratings, Cohen's kappa, Fleiss' kappa and overlapping spans.

Spans become *ratings* in two ways. Entity level: every distinct span that any annotator marked is
one item, identified by its exact offsets; annotators who did not mark it rate it `O`. Token level:
every token of the text is one item, rated with the label of the span that covers it, or `O`.
Ratings are integer codes, so that a million tokens are one array. Sources: J. Cohen, Educational
and Psychological Measurement 20(1), 1960; J. L. Fleiss, Psychological Bulletin 76(5), 1971.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from portal.facts import Span, trim_span

from . import OUTSIDE

# The labels, or their codes, that one annotator gave to all items.
OneAnnotator = Sequence[str] | Sequence[int] | NDArray[np.integer]

# Codes below this are counted directly.
_SMALL = 1000

# A number with its inner separators is one token, and so is a word; any other visible character is
# a token of its own. So "(1,200)" has three tokens, and a parenthesis missing from a span shows as
# a disagreement.
TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|\S")


@dataclass(frozen=True, eq=False)
class Ratings:
    """Codes of shape (items, annotators); code `c` means `labels[c]`, and `labels[0]` is `O`."""

    codes: NDArray[np.int16]
    labels: tuple[str, ...]

    @property
    def items(self) -> int:
        return int(self.codes.shape[0])

    @property
    def annotators(self) -> int:
        return int(self.codes.shape[1])

    def only(self, label: str) -> "Ratings":
        """Return the same items rated as this label or not: one label against the rest."""
        code = self.labels.index(label)
        return Ratings((self.codes == code).astype(np.int16), (OUTSIDE, label))


@dataclass(frozen=True)
class Kappa:
    """A chance-corrected agreement over `n` items; `value` is None if it is undefined.

    `observed` and `expected` are the observed agreement and the agreement expected by chance, None
    without items. Range of `value`: -1 to 1, higher is better.
    """

    value: float | None
    n: int
    observed: float | None
    expected: float | None


def trim_spans(text: str, spans: Iterable[Span]) -> list[Span]:
    """Remove white space from the ends of spans.

    Spans of white space only are left out.

    >>> trim_spans("in  2024 ", [Span(3, 9, "Date")])
    [Span(start=4, end=8, label='Date')]
    """
    return [trim_span(text, span) for span in spans if text[span.start : span.end].strip()]


def entity_ratings(annotations: Sequence[Iterable[Span]], labels: Sequence[str]) -> Ratings:
    """Return ratings of the distinct spans of one document, in document order.

    `annotations` holds one collection of spans per annotator. Raises ValueError for a label not in
    `labels`, and if an annotator marked the same offsets twice.
    """
    return entity_items(annotations, labels)[1]


def entity_items(
    annotations: Sequence[Iterable[Span]], labels: Sequence[str]
) -> tuple[NDArray[np.int64], Ratings]:
    """Return the offsets of the distinct spans, of shape (items, 2), and their `entity_ratings`."""
    codes_of = _codes(labels)
    marks = [_marks(spans, codes_of) for spans in annotations]
    joined = np.concatenate([np.zeros((0, 3), dtype=np.int64), *marks])
    # One number for both offsets sorts much faster than pairs.
    keys, first, items = np.unique(
        (joined[:, 0] << 32) | joined[:, 1], return_index=True, return_inverse=True
    )
    codes = np.zeros((len(keys), len(marks)), dtype=np.int16)
    annotators = np.repeat(np.arange(len(marks)), [len(some) for some in marks])
    codes[items, annotators] = joined[:, 2]
    if np.count_nonzero(codes) < len(joined):
        start, end = _marked_twice(marks)
        raise ValueError(f"two spans at [{start}, {end})")
    return joined[first, :2], Ratings(codes, tuple(codes_of))


def token_ratings(
    text: str, annotations: Sequence[Collection[Span]], labels: Sequence[str]
) -> Ratings:
    """Return ratings of every token of `text` (see TOKEN).

    A token carries the label of the span that overlaps it, or of the first one if spans meet inside
    a token. Raises ValueError for a label not in `labels`.
    """
    codes_of = _codes(labels)
    places = map(re.Match.span, TOKEN.finditer(text))
    bounds = np.fromiter(chain.from_iterable(places), dtype=np.int64)
    starts, ends = bounds.reshape(-1, 2).T
    codes = np.zeros((len(starts), len(annotations)), dtype=np.int16)
    for annotator, spans in enumerate(annotations):
        marks = _marks(spans, codes_of)
        # Later spans are written first, so that the first one keeps a token two spans share.
        marks = marks[np.argsort(-marks[:, 0], kind="stable")]
        first = np.searchsorted(ends, marks[:, 0], side="right")
        lengths = np.searchsorted(starts, marks[:, 1], side="left") - first
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        codes[np.repeat(first, lengths) + within, annotator] = np.repeat(marks[:, 2], lengths)
    return Ratings(codes, tuple(codes_of))


def cohen_kappa(first: OneAnnotator, second: OneAnnotator) -> Kappa:
    """Cohen's kappa of two annotators: (p_o - p_e) / (1 - p_e).

    `first` and `second` hold the label each gave to the same items, in the same order. Undefined
    without items and if chance agreement is 1 (both used one and the same label throughout).

    >>> cohen_kappa(["Number", "O", "Date", "O"], ["Number", "O", "O", "O"])
    Kappa(value=0.5555555555555556, n=4, observed=0.75, expected=0.4375)
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} ratings cannot be compared with {len(second)}")
    n = len(first)
    if n == 0:
        return Kappa(None, 0, None, None)
    codes = _as_codes(np.stack([np.asarray(first), np.asarray(second)]))
    counts = [np.bincount(row, minlength=int(codes.max()) + 1) for row in codes]
    observed = int(np.count_nonzero(codes[0] == codes[1])) / n
    chance = int(counts[0] @ counts[1])
    return _kappa(n, observed, chance / (n * n), certain=chance == n * n)


def fleiss_kappa(ratings: Sequence[OneAnnotator] | NDArray[np.integer]) -> Kappa:
    """Fleiss' kappa of any number of annotators: (P - P_e) / (1 - P_e).

    `ratings` has shape (items, annotators): the label every annotator gave to every item. Undefined
    without items and if one label was used throughout. Raises ValueError with fewer than two
    annotators.

    >>> round(fleiss_kappa([["a", "a", "b"], ["b", "b", "b"]]).value, 4)
    0.25
    """
    table = np.asarray(ratings)
    if table.size == 0:
        return Kappa(None, 0, None, None)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError("Fleiss' kappa needs at least two ratings of every item")
    n, raters = table.shape
    codes = _as_codes(table)
    categories = int(codes.max()) + 1
    cells = codes + np.arange(n)[:, None] * categories
    counts = np.bincount(cells.ravel(), minlength=n * categories).reshape(n, categories)
    agreeing = int((counts * counts).sum()) - n * raters
    observed = agreeing / (n * raters * (raters - 1))
    totals = counts.sum(axis=0)
    certain = int(totals.max()) == n * raters
    shares = totals / (n * raters)
    return _kappa(n, observed, float(shares @ shares), certain=certain)


def _kappa(n: int, observed: float, expected: float, *, certain: bool) -> Kappa:
    value = None if certain else (observed - expected) / (1.0 - expected)
    return Kappa(value, n, observed, expected)


def _as_codes(labels: NDArray[np.generic]) -> NDArray[np.int64]:
    """Map labels of any type to small non-negative integers."""
    if labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < _SMALL:
        return labels.astype(np.int64)
    _, codes = np.unique(labels, return_inverse=True)
    coded: NDArray[np.int64] = codes.reshape(labels.shape).astype(np.int64)
    return coded


def _codes(labels: Sequence[str]) -> dict[str, int]:
    if OUTSIDE in labels or len(set(labels)) != len(labels):
        raise ValueError(f"labels must be distinct and none may be {OUTSIDE!r}: {list(labels)}")
    return {label: code for code, label in enumerate((OUTSIDE, *labels))}


def _code(span: Span, codes_of: dict[str, int]) -> int:
    try:
        return codes_of[span.label]
    except KeyError:
        raise ValueError(f"label {span.label!r} is not one of {list(codes_of)[1:]}") from None


def _marks(spans: Iterable[Span], codes_of: dict[str, int]) -> NDArray[np.int64]:
    """Return start, end and code of every span, of shape (spans, 3)."""
    rows = ((span.start, span.end, _code(span, codes_of)) for span in spans)
    return np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, 3)


def _marked_twice(marks: Sequence[NDArray[np.int64]]) -> tuple[int, int]:
    """Return the first offsets that one annotator has twice."""
    for some in marks:
        offsets, counts = np.unique(some[:, :2], axis=0, return_counts=True)
        for start, end in offsets[counts > 1].tolist():
            return start, end
    raise ValueError("nothing is marked twice")


Offsets = tuple[int, int]


def overlap_matches(ours: Iterable[Offsets], theirs: Iterable[Offsets]) -> int:
    """Count the spans of two lists of disjoint spans that can be matched one-to-one to overlapping
    ones.

    Each span takes the first remaining overlapping one, from left to right, which is optimal for
    spans on a line.
    """
    first, second = sorted(ours), sorted(theirs)
    matched = i = j = 0
    while i < len(first) and j < len(second):
        if max(first[i][0], second[j][0]) < min(first[i][1], second[j][1]):
            matched, i, j = matched + 1, i + 1, j + 1
        elif first[i][1] <= second[j][1]:
            i += 1
        else:
            j += 1
    return matched
