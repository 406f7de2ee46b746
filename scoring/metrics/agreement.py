"""Agreement between annotators: what they rate, Cohen's kappa and Fleiss' kappa, and beside kappa
Krippendorff's alpha, span F1 and the agreement on each entity.

Spans become *ratings* in two ways. Entity level: every distinct span that anybody marked is one
item, known by its exact offsets, and whoever did not mark it rates it `O`. Token level: every token
of the text is one item, rated with the label of the span that covers it, or `O`. Ratings are kept
as integer codes, so that a million tokens are one array. Sources: J. Cohen, Educational and
Psychological Measurement 20(1), 1960; J. L. Fleiss, Psychological Bulletin 76(5), 1971; K.
Krippendorff, Content Analysis, 2004, chapter 11 (alpha of nominal data); G. Hripcsak and A.
Rothschild, JAMIA 12(3), 2005 (F1 between two annotators, where what neither marked cannot be
counted).
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from portal.facts import Span

from . import OUTSIDE
from .intervals import Floats

# The labels, or their codes, that one annotator gave to all items.
OneAnnotator = Sequence[str] | Sequence[int] | NDArray[np.integer]

# Codes below this are counted as they are.
_SMALL = 1000

# A number with its inner separators is one token, so is a word; any other visible character
# stands alone. Thus "(1,200)" has three tokens, and a parenthesis left out of a span shows as a
# disagreement.
TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|\S")


class LabelledSpan(Protocol):
    """Half-open offsets in code points of the canonical text, and a label."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def label(self) -> str: ...


@dataclass(frozen=True, eq=False)
class Ratings:
    """Codes of shape (items, annotators); code `c` stands for `labels[c]`, and `labels[0]` is
    `O`."""

    codes: NDArray[np.int16]
    labels: tuple[str, ...]

    @property
    def items(self) -> int:
        return int(self.codes.shape[0])

    @property
    def annotators(self) -> int:
        return int(self.codes.shape[1])

    def only(self, label: str) -> "Ratings":
        """The same items rated with this label or not: one label against the rest."""
        code = self.labels.index(label)
        return Ratings((self.codes == code).astype(np.int16), (OUTSIDE, label))


@dataclass(frozen=True)
class Kappa:
    """A chance-corrected agreement over `n` items; `value` is None where it is undefined.

    `observed` and `expected` are the agreement seen and the agreement chance would give, None
    without items. Range of `value`: -1 to 1, higher is better.
    """

    value: float | None
    n: int
    observed: float | None
    expected: float | None


def trim_spans(text: str, spans: Iterable[Span]) -> list[Span]:
    """The spans without the white space at their ends, which no annotator means.

    What is white space throughout is left out.

    >>> trim_spans("in  2024 ", [Span(3, 9, "Date")])
    [Span(start=4, end=8, label='Date')]
    """
    trimmed = []
    for span in spans:
        start, end = span.start, span.end
        while start < end and text[start].isspace():
            start += 1
        while start < end and text[end - 1].isspace():
            end -= 1
        if start < end:
            is_same = (start, end) == (span.start, span.end)
            trimmed.append(span if is_same else Span(start, end, span.label))
    return trimmed


def entity_ratings(annotations: Sequence[Iterable[LabelledSpan]], labels: Sequence[str]) -> Ratings:
    """Ratings of the distinct spans of one document, in document order.

    `annotations` holds one collection of spans per annotator; raises ValueError for a label not
    in `labels`, and for an annotator who marked the same offsets twice.
    """
    return entity_items(annotations, labels)[1]


def entity_items(
    annotations: Sequence[Iterable[LabelledSpan]], labels: Sequence[str]
) -> tuple[NDArray[np.int64], Ratings]:
    """The offsets of the distinct spans, of shape (items, 2), and their `entity_ratings`."""
    codes_of = _codes(labels)
    marks = [_marks(spans, codes_of) for spans in annotations]
    joined = np.concatenate([np.zeros((0, 3), dtype=np.int64), *marks])
    # One number for both ends, which is sorted far sooner than pairs are.
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
    text: str, annotations: Sequence[Collection[LabelledSpan]], labels: Sequence[str]
) -> Ratings:
    """Ratings of every token of `text` (see TOKEN).

    A token carries the label of the span that overlaps it, the first of them where spans meet
    inside a token. Raises ValueError for a label not in `labels`.
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


def join_ratings(parts: Sequence[Ratings]) -> Ratings:
    """The ratings of several documents by the same annotators as one.

    Raises ValueError when the parts differ in labels or number of annotators, or when there is
    none.
    """
    if not parts:
        raise ValueError("no ratings to join")
    if any(part.labels != parts[0].labels for part in parts):
        raise ValueError("ratings with different labels cannot be joined")
    return Ratings(np.concatenate([part.codes for part in parts]), parts[0].labels)


def cohen_kappa(first: OneAnnotator, second: OneAnnotator) -> Kappa:
    """Cohen's kappa of two annotators: (p_o - p_e) / (1 - p_e).

    `first` and `second` hold the label each gave to the same items, in the same order. Undefined
    without items and where chance agreement is 1 (both used one and the same label throughout).

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

    `ratings` has shape (items, annotators): the label every annotator gave to every item.
    Undefined without items and where one label was used throughout. Raises ValueError with fewer
    than two annotators.

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


def pairwise_kappa(ratings: Ratings) -> dict[tuple[int, int], Kappa]:
    """Cohen's kappa of every pair of annotators, by their columns in `ratings`."""
    return {
        (a, b): cohen_kappa(ratings.codes[:, a], ratings.codes[:, b])
        for a, b in combinations(range(ratings.annotators), 2)
    }


def _kappa(n: int, observed: float, expected: float, *, certain: bool) -> Kappa:
    value = None if certain else (observed - expected) / (1.0 - expected)
    return Kappa(value, n, observed, expected)


def _as_codes(labels: NDArray[np.generic]) -> NDArray[np.int64]:
    """Labels of any kind as small non-negative integers."""
    if labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() < _SMALL:
        return labels.astype(np.int64)
    _, codes = np.unique(labels, return_inverse=True)
    coded: NDArray[np.int64] = codes.reshape(labels.shape).astype(np.int64)
    return coded


def _codes(labels: Sequence[str]) -> dict[str, int]:
    if OUTSIDE in labels or len(set(labels)) != len(labels):
        raise ValueError(f"labels must be distinct and none may be {OUTSIDE!r}: {list(labels)}")
    return {label: code for code, label in enumerate((OUTSIDE, *labels))}


def _code(span: LabelledSpan, codes_of: dict[str, int]) -> int:
    try:
        return codes_of[span.label]
    except KeyError:
        raise ValueError(f"label {span.label!r} is not one of {list(codes_of)[1:]}") from None


def _marks(spans: Iterable[LabelledSpan], codes_of: dict[str, int]) -> NDArray[np.int64]:
    """Start, end and code of every span, of shape (spans, 3)."""
    rows = ((span.start, span.end, _code(span, codes_of)) for span in spans)
    return np.fromiter(chain.from_iterable(rows), dtype=np.int64).reshape(-1, 3)


def _marked_twice(marks: Sequence[NDArray[np.int64]]) -> tuple[int, int]:
    """The first offsets that one annotator has twice."""
    for some in marks:
        offsets, counts = np.unique(some[:, :2], axis=0, return_counts=True)
        for start, end in offsets[counts > 1].tolist():
            return start, end
    raise ValueError("nothing is marked twice")


# The code of a rating that is not there.
MISSING = -1
Offsets = tuple[int, int]


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha; `value` is None where it is undefined.

    `n` counts the items with at least two ratings, `ratings` the ratings of those. Range of
    `value`: 1 is perfect, 0 is chance, below is worse than chance.
    """

    value: float | None
    n: int
    ratings: int


@dataclass(frozen=True)
class SpanAgreement:
    """How well the spans of two annotators agree: F1 = 2 * matched / (first + second).

    `exact` and `overlapping` count spans matched one to one. Range of the F1: 0 to 1, higher is
    better, None where neither marked anything.
    """

    exact: int
    overlapping: int
    first: int
    second: int

    @property
    def exact_f1(self) -> float | None:
        return self._f1(self.exact)

    @property
    def overlap_f1(self) -> float | None:
        return self._f1(self.overlapping)

    def _f1(self, matched: int) -> float | None:
        marked = self.first + self.second
        return 2 * matched / marked if marked else None


def krippendorff_alpha(codes: NDArray[np.integer] | Sequence[Sequence[int]]) -> Alpha:
    """Krippendorff's alpha of nominal ratings: 1 - D_o / D_e.

    `codes` has shape (items, annotators) and MISSING where an annotator did not rate an item;
    items with fewer than two ratings cannot be paired and take no part. Undefined without
    pairable ratings and where one code was used throughout. Raises ValueError for other shapes
    and for codes below MISSING.

    >>> krippendorff_alpha([[0, 0], [1, 1], [0, 1], [1, -1]])
    Alpha(value=0.4444444444444444, n=3, ratings=6)
    """
    table = np.asarray(codes)
    if table.size == 0:
        return Alpha(None, 0, 0)
    if table.ndim != 2 or table.dtype.kind not in "iu" or table.min() < MISSING:
        raise ValueError("alpha needs whole numbers of shape (items, annotators)")
    counts = _code_counts(table)
    rated = counts.sum(axis=1)
    counts, rated = counts[rated > 1], rated[rated > 1]
    n = int(rated.sum())
    totals = counts.sum(axis=0)
    expected = n * n - int(totals @ totals)
    if expected == 0:
        return Alpha(None, len(rated), n)
    disagreeing = rated * rated - (counts * counts).sum(axis=1)
    observed = float((disagreeing / (rated - 1)).sum())
    return Alpha(1.0 - (n - 1) * observed / expected, len(rated), n)


def span_agreement(
    first: Collection[LabelledSpan], second: Collection[LabelledSpan]
) -> SpanAgreement:
    """The spans that two annotators of one document have in common.

    Exact: the same offsets and label. Overlap: the same label and at least one character in
    common, each span matched to one other, as many as possible. The spans of one annotator must
    not overlap each other. Counts of several documents are added with `add_agreements`.
    """
    keys = [{(span.start, span.end, span.label) for span in spans} for spans in (first, second)]
    ours, theirs = _by_label(first), _by_label(second)
    overlapping = sum(
        overlap_matches(ours[label], theirs[label]) for label in ours.keys() & theirs.keys()
    )
    return SpanAgreement(len(keys[0] & keys[1]), overlapping, len(first), len(second))


def add_agreements(parts: Iterable[SpanAgreement]) -> SpanAgreement:
    """The counts of several documents or labels together."""
    listed = list(parts)
    return SpanAgreement(
        sum(part.exact for part in listed),
        sum(part.overlapping for part in listed),
        sum(part.first for part in listed),
        sum(part.second for part in listed),
    )


def entity_agreement(ratings: Ratings) -> Floats:
    """For each entity the share of annotators who gave it the same span and label.

    The most frequent label counts, `O` is none. `ratings` are those of `entity_ratings`; the
    shares, of shape (items,), are in [0, 1], higher is better. Raises ValueError without
    annotators.

    >>> ratings = Ratings(np.array([[1, 1, 0], [1, 2, 0]]), ("O", "Number", "Date"))
    >>> entity_agreement(ratings).round(2)
    array([0.67, 0.33])
    """
    if not ratings.annotators:
        raise ValueError("no annotators to agree")
    shares: Floats = np.zeros(ratings.items)
    for code in range(1, len(ratings.labels)):
        shares = np.maximum(shares, (ratings.codes == code).mean(axis=1))
    return shares


def _code_counts(codes: NDArray[np.integer]) -> NDArray[np.int64]:
    """How often each item got each code, of shape (items, codes); MISSING is not counted."""
    size = max(int(codes.max()), 0) + 1
    # One column beside the codes takes what is missing and is then left out.
    cells = codes.astype(np.int64) + 1 + np.arange(len(codes))[:, None] * (size + 1)
    counts = np.bincount(cells.ravel(), minlength=len(codes) * (size + 1))
    return counts.reshape(len(codes), size + 1)[:, 1:]


def _by_label(spans: Iterable[LabelledSpan]) -> defaultdict[str, list[Offsets]]:
    found: defaultdict[str, list[Offsets]] = defaultdict(list)
    for span in spans:
        found[span.label].append((span.start, span.end))
    return found


def overlap_matches(ours: Iterable[Offsets], theirs: Iterable[Offsets]) -> int:
    """How many of two lists of disjoint spans can be matched to one that overlaps.

    From left to right each takes the first one left: of spans on a line no other choice gives
    more.
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
