"""Slow, readable implementations of metrics, and agreement measures that only tests need."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from portal.facts import Span
from scoring.metrics.agreement import Offsets, overlap_matches
from scoring.metrics.receipts import DEFAULT, FIELDS, Outcome, Protocol, compare_field
from scoring.metrics.trees import Costs, Tree

# The code of a missing rating.
MISSING = -1


@dataclass(frozen=True)
class Alpha:
    """Krippendorff's alpha; `value` is None if it is undefined.

    `n` counts the items with at least two ratings, `ratings` the ratings of those. Range of
    `value`: 1 is perfect, 0 is chance, below is worse than chance.
    """

    value: float | None
    n: int
    ratings: int


def krippendorff_alpha(codes: NDArray[np.integer] | Sequence[Sequence[int]]) -> Alpha:
    """Krippendorff's alpha of nominal ratings: 1 - D_o / D_e.

    `codes` has shape (items, annotators) and MISSING if an annotator did not rate an item; items
    with fewer than two ratings cannot be paired and are left out. Undefined without pairable
    ratings and if one code was used throughout. Raises ValueError for other shapes and for codes
    below MISSING.

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


def _code_counts(codes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return how often each item got each code, of shape (items, codes); MISSING is not counted."""
    size = max(int(codes.max()), 0) + 1
    # An extra column takes the missing ratings and is then dropped.
    cells = codes.astype(np.int64) + 1 + np.arange(len(codes))[:, None] * (size + 1)
    counts = np.bincount(cells.ravel(), minlength=len(codes) * (size + 1))
    return counts.reshape(len(codes), size + 1)[:, 1:]


@dataclass(frozen=True)
class SpanAgreement:
    """The agreement of two annotators' spans: F1 = 2 * matched / (first + second).

    `exact` and `overlapping` count spans matched one to one. Range of the F1: 0 to 1, higher is
    better, None if neither marked anything.
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


def span_agreement(first: Collection[Span], second: Collection[Span]) -> SpanAgreement:
    """Count the spans that two annotators of one document have in common.

    Exact: the same offsets and label. Overlap: the same label and at least one character in
    common, each span matched to one other, as many as possible. The spans of one annotator must
    not overlap each other.
    """
    keys = [{(span.start, span.end, span.label) for span in spans} for spans in (first, second)]
    ours, theirs = _by_label(first), _by_label(second)
    overlapping = sum(
        overlap_matches(ours[label], theirs[label]) for label in ours.keys() & theirs.keys()
    )
    return SpanAgreement(len(keys[0] & keys[1]), overlapping, len(first), len(second))


def _by_label(spans: Iterable[Span]) -> defaultdict[str, list[Offsets]]:
    found: defaultdict[str, list[Offsets]] = defaultdict(list)
    for span in spans:
        found[span.label].append((span.start, span.end))
    return found


def plain_tree_edit_distance(first: Tree, second: Tree, costs: Costs) -> float:
    """Return the same distance as `tree_edit_distance`, in Python that follows the paper.

    For every pair of keyroots the distances of all forests that end below them are tabulated; a
    pair of whole trees among those is remembered for the forests that contain it.
    """
    trees: dict[tuple[int, int], float] = {}
    for i in first.keyroots.tolist():
        for j in second.keyroots.tolist():
            _tabulate_forests(first, second, costs, (i, j), trees)
    return trees[first.size - 1, second.size - 1]


def _tabulate_forests(
    first: Tree,
    second: Tree,
    costs: Costs,
    roots: tuple[int, int],
    trees: dict[tuple[int, int], float],
) -> None:
    """Fill `trees` for the pairs of nodes that share their leftmost leaves with the two roots.

    `forest[x, y]` is the distance of the nodes up to x from those up to y; no nodes is one less
    than the leftmost leaf.
    """
    left, top = int(first.leftmost[roots[0]]), int(second.leftmost[roots[1]])
    forest = {(left - 1, top - 1): 0.0}
    for x in range(left, roots[0] + 1):
        forest[x, top - 1] = forest[x - 1, top - 1] + float(costs.delete[first.kinds[x]])
    for y in range(top, roots[1] + 1):
        forest[left - 1, y] = forest[left - 1, y - 1] + float(costs.insert[second.kinds[y]])
    for x in range(left, roots[0] + 1):
        for y in range(top, roots[1] + 1):
            kinds = first.kinds[x], second.kinds[y]
            x_left, y_left = int(first.leftmost[x]), int(second.leftmost[y])
            both_whole = x_left == left and y_left == top
            if both_whole:
                pairing = forest[x - 1, y - 1] + float(costs.rename[kinds])
            else:
                pairing = forest[x_left - 1, y_left - 1] + trees[x, y]
            forest[x, y] = min(
                forest[x - 1, y] + float(costs.delete[kinds[0]]),
                forest[x, y - 1] + float(costs.insert[kinds[1]]),
                pairing,
            )
            if both_whole:
                trees[x, y] = forest[x, y]


def compare_receipt(
    gold: Mapping[str, Any], prediction: Mapping[str, Any], protocol: Protocol = DEFAULT
) -> dict[str, Outcome]:
    """Return the outcome of each of the 19 fields, by name; a missing field is empty."""
    return {
        rule.name: compare_field(rule, gold.get(rule.name), prediction.get(rule.name), protocol)
        for rule in FIELDS
    }
