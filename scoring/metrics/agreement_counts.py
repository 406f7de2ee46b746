"""Agreement over many documents: counts that can be added, and figures computed from their sums.

A few small tables of each document hold everything that the figures need, so that the figures of
some of the documents, and of every resample of them, are figures of sums of tables. Sources: those
of `agreement`; K. Krippendorff, Content Analysis, 2004, chapter 11 (coincidences, and alpha of
nominal data); G. Hripcsak and A. Rothschild, JAMIA 12(3), 2005 (F1 between two annotators, when
items that neither marked cannot be counted).
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from portal.facts import Span

from .agreement import Ratings, entity_items, overlap_matches, token_ratings, trim_spans
from .intervals import FEWEST_RESAMPLES, Floats, Interval, Replicates, resampling

Counts = NDArray[np.int64]

# Up to this many weights are stored ready for multiplication, so that memory stays bounded.
_KEPT = 4_000_000
_NOISE = 1e-12


@dataclass(frozen=True, eq=False)
class LevelCounts:
    """The ratings of one document at one level; code 0 is `O`, not marked.

    `tables` of shape (pairs, codes, codes) count for each pair of annotators, in the order of
    `itertools.combinations`, the codes of the second for the items with each code of the first.
    `coincidences`, (codes, codes), has every ordered pair of ratings of an item, weighted by 1 /
    (ratings - 1), so that an item counts as often as it was rated. `labelled` has the same of the
    annotators who marked an item, for the `labelled_items` that two or more marked.
    """

    items: int
    tables: Counts
    coincidences: Floats
    labelled_items: int
    labelled: Floats


@dataclass(frozen=True, eq=False)
class DocumentCounts:
    """All counts of one document.

    `offsets` of shape (items, 2) are the distinct spans that any annotator marked, trimmed, and
    `ratings` the annotators' ratings of them. `spans` of shape (pairs, codes, 3) has for each pair
    and code the spans matched exactly, those matched by overlap, and all that either marked; code 0
    means spans of any label, matched regardless of label.
    """

    offsets: Counts
    ratings: Ratings
    entity: LevelCounts
    token: LevelCounts
    spans: Counts


def document_counts(
    text: str, annotations: Sequence[Collection[Span]], labels: Sequence[str]
) -> DocumentCounts:
    """Count the spans that the annotators of a document marked, after trimming white space at their
    ends.

    Raises ValueError for fewer than two annotators, and in the cases of `entity_items`.
    """
    trimmed = [trim_spans(text, spans) for spans in annotations]
    offsets, ratings = entity_items(trimmed, labels)
    entity = level_counts(ratings)
    token = level_counts(token_ratings(text, trimmed, labels))
    spans = _span_counts(ratings, offsets, entity.tables)
    return DocumentCounts(offsets, ratings, entity, token, spans)


def level_counts(ratings: Ratings) -> LevelCounts:
    """Count ratings. Raises ValueError for fewer than two annotators."""
    if ratings.annotators < 2:
        raise ValueError("agreement needs two annotators at least")
    size, raters = len(ratings.labels), ratings.annotators
    # Most tokens are unmarked; they are counted as one number.
    touched = ratings.codes[ratings.codes.any(axis=1)]
    marked = (touched > 0).sum(axis=1)
    by_marked = _pair_tables(touched, marked, size)
    tables = by_marked.sum(axis=0)
    tables[:, 0, 0] += ratings.items - len(touched)
    labelled = np.zeros((size, size))
    for number in range(2, raters + 1):
        labelled[1:, 1:] += _coincidences(by_marked[number, :, 1:, 1:], number)
    coincidences = _coincidences(tables, raters)
    return LevelCounts(ratings.items, tables, coincidences, int((marked > 1).sum()), labelled)


def _pair_tables(codes: NDArray[np.int16], marked: NDArray[np.integer], size: int) -> Counts:
    """Count the ratings of each pair, of shape (markers, pairs, codes, codes), by how many
    annotators marked the item."""
    raters = codes.shape[1]
    first, second = np.triu_indices(raters, 1)
    shape = (raters + 1, len(first), size, size)
    places = (marked[:, None], np.arange(len(first)), codes[:, first], codes[:, second])
    cells = np.ravel_multi_index(np.broadcast_arrays(*places), shape)
    return np.bincount(cells.ravel(), minlength=math.prod(shape)).reshape(shape).astype(np.int64)


def _coincidences(tables: Counts, ratings: int) -> Floats:
    joint = tables.sum(axis=0)
    coincidences: Floats = (joint + joint.T) / (ratings - 1)
    return coincidences


def _span_counts(ratings: Ratings, offsets: Counts, tables: Counts) -> Counts:
    """Count span matches of `ratings` at `offsets`. Exact matches are in `tables` already."""
    size = len(ratings.labels)
    counts = np.zeros((len(tables), size, 3), dtype=np.int64)
    marked = tables.sum(axis=1) + tables.sum(axis=2)
    counts[:, 1:, 0] = np.diagonal(tables, axis1=1, axis2=2)[:, 1:]
    counts[:, 1:, 2] = marked[:, 1:]
    counts[:, 0, 0] = tables[:, 1:, 1:].sum(axis=(1, 2))
    counts[:, 0, 2] = marked[:, 1:].sum(axis=1)
    counts[..., 1] = counts[..., 0]
    for pair, (a, b) in enumerate(combinations(range(ratings.annotators), 2)):
        # Spans that both marked exactly alike overlap nothing else; few items remain to be matched.
        left = ratings.codes[:, a] != ratings.codes[:, b]
        rows = list(
            zip(offsets[left].tolist(), ratings.codes[left][:, [a, b]].tolist(), strict=True)
        )
        bare = [row for row in rows if 0 in row[1]]
        counts[pair, 0, 1] += _overlaps(bare, lambda code: code > 0)
        for code in range(1, size):
            counts[pair, code, 1] += _overlaps(rows, code.__eq__)
    return counts


def _overlaps(rows: Sequence[tuple[list[int], list[int]]], counts: Callable[[int], bool]) -> int:
    """Count the matches between items marked by the first and overlapping items marked by the
    second, from rows of offsets and both codes.
    """
    first = [(place[0], place[1]) for place, codes in rows if counts(codes[0])]
    second = [(place[0], place[1]) for place, codes in rows if counts(codes[1])]
    return overlap_matches(first, second) if first and second else 0


def against_rest(tables: Floats, code: int) -> Floats:
    """Reduce tables of shape (…, codes, codes) to (…, 2, 2): one code against the rest, the rest
    first.

    >>> against_rest(np.array([[5.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 3.0]]), 2).tolist()
    [[8.0, 1.0], [0.0, 3.0]]
    """
    both = tables[..., code, code]
    first = tables[..., code, :].sum(axis=-1) - both
    second = tables[..., :, code].sum(axis=-1) - both
    neither = tables.sum(axis=(-2, -1)) - first - second - both
    halves = [np.stack([neither, second], axis=-1), np.stack([first, both], axis=-1)]
    return np.stack(halves, axis=-2)


def cohen_values(tables: Floats) -> Floats:
    """Cohen's kappa of tables of shape (…, codes, codes); nan if undefined."""
    total = tables.sum(axis=(-2, -1))
    agreeing = np.trace(tables, axis1=-2, axis2=-1)
    chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1)
    # All values are integers, so the denominator is exactly 0 if agreement by chance is certain.
    return _divided(agreeing * total - chance, total * total - chance)


def fleiss_values(coincidences: Floats) -> Floats:
    """Fleiss' kappa of coincidences of shape (…, codes, codes); nan if undefined.

    All items must have the same number of ratings.
    """
    total, agreeing, chance = _marginals(coincidences)
    return _divided(agreeing * total - chance, total * total - chance)


def alpha_values(coincidences: Floats) -> Floats:
    """Krippendorff's alpha of coincidences of shape (…, codes, codes); nan if undefined."""
    total, agreeing, chance = _marginals(coincidences)
    return 1.0 - _divided((total - 1) * (total - agreeing), total * total - chance)


def observed_values(tables: Floats) -> Floats:
    """The share of pairs of ratings that agree; nan without any."""
    return _divided(np.trace(tables, axis1=-2, axis2=-1), tables.sum(axis=(-2, -1)))


def f1_values(matched: Floats, marked: Floats) -> Floats:
    """Span F1, 2 * matched / marked, where `marked` adds up the spans of both annotators; nan
    without any."""
    return _divided(2 * matched, marked)


def mean_values(parts: Sequence[Floats]) -> Floats:
    """The mean of the defined values at every position; nan if none is defined."""
    stacked = np.stack(parts)
    known = np.isfinite(stacked)
    return _divided(np.where(known, stacked, 0.0).sum(axis=0), known.sum(axis=0))


def _marginals(coincidences: Floats) -> tuple[Floats, Floats, Floats]:
    # Both marginals use one sum along rows, so that the total of a single code is exactly its own.
    rows = coincidences.sum(axis=-1)
    agreeing = np.trace(coincidences, axis1=-2, axis2=-1)
    return rows.sum(axis=-1), agreeing, (rows * rows).sum(axis=-1)


def _divided(part: Floats, whole: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, part / whole, np.nan)


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95% bootstrap interval over documents.

    `value` is None if the figure is undefined. `interval` is None in that case, with a single
    document, and if only one of many documents has data for the figure.
    """

    value: float | None
    interval: Interval | None


class Draws:
    """Sums over documents, for the actual documents and every resample of them.

    `names` must be sorted, so that the resamples do not depend on the order of the documents;
    `seed` is as in `resampling`. Raises ValueError otherwise, and without documents.
    """

    def __init__(
        self, names: Sequence[str], *, seed: str, resamples: int = FEWEST_RESAMPLES
    ) -> None:
        if list(names) != sorted(set(names)) or not names:
            raise ValueError("documents must be there, each of them once, sorted by name")
        # With few documents, weights are stored ready for multiplication; with many, as small
        # integers, since no document is drawn hundreds of times.
        kept = np.float64 if len(names) * resamples <= _KEPT else np.uint8
        self._blocks: list[NDArray[np.generic]] = [np.ones((1, len(names)), dtype=kept)]
        if len(names) > 1:
            drawn = resampling(names, seed=seed, resamples=resamples)
            self._blocks += [block.astype(kept) for block in drawn.blocks()]

    def sums(self, tables: NDArray[np.generic]) -> Floats:
        """Sum `tables` of shape (documents, …) to (1 + resamples, …), the plain sum first."""
        flat = tables.reshape(len(tables), -1).astype(np.float64)
        weights = (block.astype(np.float64, copy=False) for block in self._blocks)
        summed = np.concatenate([block @ flat for block in weights])
        return summed.reshape(-1, *tables.shape[1:])


def estimate(values: Floats) -> Estimate:
    """Return the figure from `Draws.sums`: the value first, then one value per resample."""
    value = float(values[0]) if np.isfinite(values[0]) else None
    if _depends_on_few(values[1:]):
        return Estimate(value, None)
    return Estimate(value, Replicates(value, values[1:], "").interval())


def _depends_on_few(resampled: Floats) -> bool:
    """Whether the figure is undefined in some draws and constant in all others. Then too few
    documents have data for it to estimate how much it varies."""
    known = resampled[np.isfinite(resampled)]
    return 0 < known.size < resampled.size and float(np.ptp(known)) < _NOISE
