"""Agreement beside kappa: Krippendorff's alpha, span F1, agreement on each entity.

Sources: K. Krippendorff, Content Analysis, 2004, chapter 11 (alpha of nominal data); G. Hripcsak
and A. Rothschild, JAMIA 12(3), 2005 (F1 between two annotators, where what neither marked cannot
be counted).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .agreement import LabelledSpan, Ratings
from .intervals import Floats

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
