"""Bootstrap intervals over documents, tests between two systems, and ranks by significance.

A figure is a ratio of sums, or a mean of such ratios over groups, or a mean of those means: see
`Tallies`. Whole documents are resampled, since facts on one page are not independent. All systems
of a board are resampled with the same weights, so that they are compared replicate by replicate.
The draws use the bits of PCG64, whose stream numpy guarantees to keep, unlike that of its
distributions, so they are the same on every machine.

Sources: B. Efron and R. Tibshirani, An Introduction to the Bootstrap, 1993 (percentile interval,
and the test that follows from it); P. Koehn, EMNLP 2004 (paired bootstrap); C. Clopper and
E. Pearson, Biometrika 26, 1934; L. Kish, Survey Sampling, 1965 (effective sample size).
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.random import PCG64
from numpy.typing import NDArray

FEWEST_RESAMPLES = 1000
# Weights held in memory at a time, so that memory does not grow with the documents.
_BLOCK = 2_000_000


@dataclass(frozen=True, eq=False)
class Resampling:
    """How often each document counts in each replicate; see `resampling`.

    `documents` are sorted by stratum and name; `starts` and `sizes` give for each of them the start
    and the size of its stratum.
    """

    documents: tuple[str, ...]
    starts: NDArray[np.uint64]
    sizes: NDArray[np.uint64]
    seed: str
    resamples: int

    @property
    def key(self) -> str:
        """A key that resamplings share if they give the same weights to the same documents."""
        parts = (self.seed, str(self.resamples), *self.documents, *map(str, self.starts.tolist()))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def blocks(self) -> Iterator[NDArray[np.int64]]:
        """Yield weights of shape (some replicates, documents), until all replicates are done. Each
        row sums to the number of documents, within each stratum to its size."""
        bits = _bits("bootstrap", self.seed)
        n = len(self.documents)
        rows = max(1, _BLOCK // n)
        for first in range(0, self.resamples, rows):
            some = min(rows, self.resamples - first)
            draws = bits.random_raw(some * n).reshape(some, n) >> np.uint64(32)
            # Scaling 32 random bits to a size is uneven by less than one in a million.
            drawn = (self.starts + ((draws * self.sizes) >> np.uint64(32))).astype(np.int64)
            drawn += np.arange(some)[:, None] * n
            yield np.bincount(drawn.ravel(), minlength=some * n).reshape(some, n)

    def weights(self) -> NDArray[np.int64]:
        """All weights, of shape (resamples, documents)."""
        return np.concatenate(list(self.blocks()))


def resampling(
    documents: Sequence[str],
    *,
    seed: str,
    strata: Sequence[str] | None = None,
    resamples: int = FEWEST_RESAMPLES,
) -> Resampling:
    """Return weights for documents, the same on every machine and in any order of the documents.

    `seed` is any text, such as the hash of a release. `strata` names the stratum of each document,
    within which it is resampled. Raises ValueError for no documents, for duplicates, and for fewer
    than FEWEST_RESAMPLES.

    >>> resampling(["a", "b", "c"], seed="v1").weights()[1:4].tolist()
    [[1, 1, 1], [0, 2, 1], [1, 1, 1]]
    """
    strata = [""] * len(documents) if strata is None else strata
    if not documents or len(set(documents)) != len(documents):
        raise ValueError("documents must be there, each of them once")
    if len(strata) != len(documents):
        raise ValueError(f"{len(documents)} documents cannot be of {len(strata)} strata")
    if resamples < FEWEST_RESAMPLES:
        raise ValueError(f"at least {FEWEST_RESAMPLES} resamples are needed, not {resamples}")
    ordered = sorted(zip(strata, documents, strict=True))
    _, first, inverse, sizes = np.unique(
        [stratum for stratum, _ in ordered],
        return_index=True, return_inverse=True, return_counts=True,
    )  # fmt: skip
    return Resampling(
        tuple(name for _, name in ordered),
        first[inverse].astype(np.uint64),
        sizes[inverse].astype(np.uint64),
        seed,
        resamples,
    )


def _bits(purpose: str, seed: str) -> PCG64:
    digest = hashlib.sha256(f"{purpose}\0{seed}".encode()).digest()
    return PCG64(int.from_bytes(digest[:16], "big"))


Floats = NDArray[np.float64]
# The position of a value in a mean of means, from the outside in, such as ("KIE", "KIE_zh").
Path = tuple[str, ...]

LEVEL = 0.95
SIGNIFICANT = 0.05
# Smaller differences are noise of the summation, which depends on the machine.
_NOISE = 1e-12


@dataclass(frozen=True, eq=False)
class Tallies:
    """The data behind one figure of one system.

    `sums` and `counts` have shape (documents, groups): numerator and denominator that a document
    adds to a group. The figure of a group is its sum divided by its count. If the paths of groups
    have several steps, groups with the same beginning are averaged, step by step, and at last over
    all. Groups without a count are left out. With the one group `()` it is a ratio of sums.
    """

    documents: tuple[str, ...]
    groups: tuple[Path, ...]
    sums: Floats
    counts: Floats

    @property
    def depends_on_one(self) -> bool:
        """Whether a single document has all counts of some group. Resampling never changes that
        group's figure, so nothing is known of how much it varies."""
        return bool(((self.counts > 0).sum(axis=0) == 1).any())

    @property
    def value(self) -> float | None:
        """The figure itself, None if nothing was counted."""
        sums, counts = (part.sum(axis=0, keepdims=True) for part in (self.sums, self.counts))
        return _number(_figures(sums, counts, self.groups)[0])

    @property
    def effective_documents(self) -> float:
        """The number of documents of equal weight that say as much about the figure: 1 / the sum of
        the squares of their shares of it (Kish's design effect)."""
        counted = np.flatnonzero(self.counts.sum(axis=0) > 0)
        counts, groups = self.counts[:, counted], [self.groups[column] for column in counted]
        totals = counts.sum(axis=0)
        of_groups = _figures(np.diag(totals), np.tile(totals, (len(totals), 1)), groups)
        shares = counts / totals @ of_groups
        return float(1 / (shares**2).sum())


@dataclass(frozen=True)
class Interval:
    """The bounds of an interval, both included, in the unit of the figure."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Replicates:
    """A figure and its value in each resample; nan if nothing was counted.

    `values` has shape (resamples,). Only replicates with the same `key` can be compared.
    `documents` is the effective number of documents of a rate in [0, 1]; None if not known.
    """

    value: float | None
    values: Floats
    key: str
    documents: float | None = None

    @property
    def can_be_compared(self) -> bool:
        """Whether there are replicates. There are none if a part of the figure depends on one
        document."""
        return self.value is not None and bool(np.isfinite(self.values).any())

    def interval(self, level: float = LEVEL) -> Interval | None:
        """The percentile interval; None if the figure is undefined or has no replicates.

        If all documents agree, as in a perfect score, drawing them never changes the figure. Then
        the documents that were not seen decide, by the exact interval of Clopper and Pearson for n
        of n: a share of up to 1 - ((1 - level) / 2)^(1/n) of them may differ.
        """
        finite = self.values[np.isfinite(self.values)]
        if self.value is None or not finite.size:
            return None
        if np.ptp(finite) < _NOISE:
            return self._unseen(level)
        low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
        return Interval(float(low), float(high))

    def _unseen(self, level: float) -> Interval | None:
        """The interval of a rate that is the same in all documents."""
        if self.value is None or self.documents is None or not 0 <= self.value <= 1:
            return None
        alike = ((1 - level) / 2) ** (1 / self.documents)
        return Interval(self.value * alike, 1 - (1 - self.value) * alike)


@dataclass(frozen=True)
class PairedTest:
    """The difference first - second, and the probability of one at least as large by chance.

    `p_value` is two-sided, in (0, 1]; `interval` is that of the difference, if the test gives one.
    It excludes 0 exactly if `p_value` is below 5%.
    """

    difference: float
    p_value: float
    interval: Interval | None = None

    @property
    def is_significant(self) -> bool:
        """Whether `p_value` is below 5%, with the interval on the side of the difference."""
        if self.p_value >= SIGNIFICANT:
            return False
        return self.interval is None or self.interval.low * self.difference > 0


def tally(
    documents: Sequence[str],
    sums: Sequence[float],
    counts: Sequence[float] | None = None,
    groups: Sequence[Path] | None = None,
) -> Tallies:
    """Return tallies from values in any order, with any number of values per document.

    `sums` and `counts` (1 each unless given) are numerators and denominators, `groups` the path of
    each value. Raises ValueError for sequences of different lengths, for none, and for negative
    counts or values that are not finite.

    >>> tally(["a", "b", "b"], [1, 2, 0], [1, 2, 1]).value
    0.75
    >>> tally(["a", "b", "b"], [1, 1, 0], groups=[("x",), ("y",), ("y",)]).value
    0.75
    """
    counts = [1.0] * len(documents) if counts is None else counts
    groups = [()] * len(documents) if groups is None else groups
    if not documents:
        raise ValueError("no values to tally")
    if not len(documents) == len(sums) == len(counts) == len(groups):
        raise ValueError("documents, sums, counts and groups must have the same length")
    pair = np.array([sums, counts], dtype=np.float64)
    if not np.isfinite(pair).all() or pair[1].min() < 0:
        raise ValueError("sums must be finite, counts finite and not negative")
    rows, columns = sorted(set(documents)), sorted(set(groups))
    row_of, column_of = ({name: i for i, name in enumerate(part)} for part in (rows, columns))
    cells = [row_of[name] * len(columns) + column_of[path]
             for name, path in zip(documents, groups, strict=True)]  # fmt: skip
    # Summing in a fixed order gives the same last digit, whatever the order of the values.
    order = np.lexsort((pair[1], pair[0], cells))
    shape = (len(rows), len(columns))
    summed, counted = (_added(np.array(cells)[order], part[order], shape) for part in pair)
    return Tallies(tuple(rows), tuple(columns), summed, counted)


def bootstrap(tallies: Tallies, weights: Resampling) -> Replicates:
    """Return the replicates of a figure. Documents of `weights` without tallies add nothing to it.

    All are nan if drawing cannot vary a part of the figure: if a group depends on one document, or
    if a counted document is alone in its stratum, so that it is always drawn once.

    Raises ValueError for a document of `tallies` that `weights` does not have.
    """
    missing = set(tallies.documents).difference(weights.documents)
    if missing:
        raise ValueError(f"document {min(missing)!r} is not among those resampled")
    position = {name: i for i, name in enumerate(weights.documents)}
    rows = [position[name] for name in tallies.documents]
    if tallies.depends_on_one or _has_fixed(tallies, weights.sizes[rows]):
        return Replicates(tallies.value, np.full(weights.resamples, np.nan), weights.key)
    both = np.zeros((len(position), 2 * len(tallies.groups)))
    both[rows] = np.hstack([tallies.sums, tallies.counts])
    from .compiled import add_weighted

    # Most documents are in one group of many. They are added in one order, for the same last digit.
    groups, documents = (np.ascontiguousarray(part) for part in both.T.nonzero())
    totals = np.zeros((weights.resamples, both.shape[1]))
    first = 0
    for block in weights.blocks():
        some = totals[first : first + len(block)]
        add_weighted(both[documents, groups], documents, groups, block, some)
        first += len(block)
    sums, counts = np.hsplit(totals, 2)
    values = _figures(sums, counts, tallies.groups)
    known = None if tallies.value is None else tallies.effective_documents
    return Replicates(tallies.value, values, weights.key, known)


def combine(function: Callable[..., Floats], *parts: Replicates) -> Replicates:
    """Return the replicates of a figure that is computed from others, such as a mean of three.

    `function` takes one array for each of `parts`, all of the same shape, and returns one.
    """
    _check_shared(parts)
    points = [np.array([np.nan if part.value is None else part.value]) for part in parts]
    value = _number(function(*points)[0])
    numbers = [part.documents for part in parts]
    fewest = None if None in numbers else min(number for number in numbers if number is not None)
    return Replicates(value, function(*(part.values for part in parts)), parts[0].key, fewest)


def paired_bootstrap(first: Replicates, second: Replicates) -> PairedTest | None:
    """Test whether two systems differ: p = 2 (1 + min(#{d* <= 0}, #{d* >= 0})) / (1 + resamples).

    d* is the difference of the replicates. The interval of the difference is cut from the same
    replicates at the same count, so that it excludes 0 exactly if p is below 5%. None if either
    figure is undefined, or if there are too few replicates for any interval. Raises ValueError for
    replicates of different resamplings.
    """
    _check_shared((first, second))
    if first.value is None or second.value is None:
        return None
    values = _differences(first.values, second.values)
    values = np.sort(values[np.isfinite(values)])
    outside = _outside(values.size)
    if outside is None:
        return None
    fewer = min(np.count_nonzero(values <= 0), np.count_nonzero(values >= 0))
    p_value = min(1.0, float(_one_sided(fewer, values.size)) * 2)
    interval = Interval(float(values[outside]), float(values[values.size - 1 - outside]))
    return PairedTest(first.value - second.value, p_value, interval)


def significance_ranks(
    entries: Sequence[Replicates | None], direction: Literal["up", "down"] = "up"
) -> list[int | None]:
    """Return each entry's rank: 1 + the number of entries that are significantly better.

    Better is higher, or lower with direction `down`; significant is a paired bootstrap at 5%. None
    and entries without a figure have no rank and do not affect others. No entry has a rank if one
    has a figure but no replicates, because it cannot be tested whether others are better.
    """
    known = [(place, entry) for place, entry in enumerate(entries) if _has_figure(entry)]
    ranks: list[int | None] = [None] * len(entries)
    listed = [entry for _, entry in known if entry is not None]
    if not listed or not all(entry.can_be_compared for entry in listed):
        return ranks
    _check_shared(listed)
    sign = 1 if direction == "up" else -1
    figures = sign * np.array([entry.value for entry in listed], dtype=np.float64)
    values = sign * np.stack([entry.values for entry in listed])
    for row, (place, _) in enumerate(known):
        better = np.flatnonzero(figures > figures[row])
        ranks[place] = 1 + int(np.count_nonzero(_are_above(values[better], values[row])))
    return ranks


def _has_figure(entry: Replicates | None) -> bool:
    return entry is not None and entry.value is not None


def _has_fixed(tallies: Tallies, sizes: NDArray[np.uint64]) -> bool:
    """Whether a counted document is alone in its stratum; `sizes` are those of the strata."""
    counts = (tallies.counts > 0).any(axis=1)
    return bool((counts & (sizes == 1)).any())


def _differences(first: Floats, second: Floats) -> Floats:
    """Return the differences replicate by replicate, without the noise of the summation."""
    values: Floats = first - second
    return np.where(np.abs(values) < _NOISE, 0.0, values)


def _one_sided(count: Any, replicates: Any) -> Any:
    """Return the share of replicates on the other side of 0, counting the actual difference as one
    more."""
    return (1 + count) / (1 + replicates)


def _outside(replicates: int) -> int | None:
    """Return how many replicates are beyond each bound of an interval: as many as may be on the
    other side of 0 in a significant difference. None if there are too few replicates."""
    counts = np.arange(replicates)
    allowed = int(np.count_nonzero(_one_sided(counts, replicates) * 2 < SIGNIFICANT))
    return allowed - 1 if allowed else None


def _are_above(better: Floats, other: Floats) -> NDArray[np.bool_]:
    """For each row of replicates, of shape (systems, resamples), whether `paired_bootstrap` finds
    it significantly above the other system, whose figure is lower."""
    values = _differences(better, other)
    below = np.count_nonzero(values <= 0, axis=1)
    p_values = _one_sided(below, np.isfinite(values).sum(axis=1)) * 2
    above: NDArray[np.bool_] = p_values < SIGNIFICANT
    return above


def _added(cells: NDArray[np.int64], values: Floats, shape: tuple[int, int]) -> Floats:
    """Return the sum of the values of each cell."""
    return np.bincount(cells, values, shape[0] * shape[1]).astype(np.float64).reshape(shape)


def _figures(sums: Floats, counts: Floats, groups: Sequence[Path]) -> Floats:
    """Return the figure of every row of sums and counts, of shape (rows, groups)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(counts > 0, sums / counts, np.nan)
    level = {path: ratios[:, column] for column, path in enumerate(groups)}
    for length in range(max(map(len, groups)), 0, -1):
        parts: defaultdict[Path, list[Floats]] = defaultdict(list)
        for path, values in level.items():
            parts[path[: length - 1] if len(path) == length else path].append(values)
        level = {path: _mean(values) for path, values in parts.items()}
    return level[()]


def _mean(parts: Sequence[Floats]) -> Floats:
    """Return the mean of the defined values in every row; nan if none is defined."""
    stacked = np.stack(parts)
    known = np.isfinite(stacked)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.where(known, stacked, 0.0).sum(axis=0) / known.sum(axis=0)
    return mean


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _check_shared(parts: Sequence[Replicates]) -> None:
    if len({part.key for part in parts}) != 1:
        raise ValueError("replicates of different resamplings cannot be compared")
