"""Which columns and tables of a prediction correspond to those of the gold."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.trees import one_to_one

from .normalise import normalise_value
from .tables import Tables

_HEADER, _PAIR, _CONTENT = 3.0, 1.0, 0.5
# Headers must say this much more, in columns, for another order than that of the gold.
_CLEARLY = 0.5
# A column with this share of equal values corresponds without a header.
_SURE = 0.5
# The weights by which tables with the same row labels are distinguished, and the lead needed.
_CAPTION, _VALUES, _ALIGNED, _LEAD = 6.0, 2.0, 1.0, 0.5
# A table has at most so many times the rows of the gold's.
_MOST_ROWS = 1.5
# Tables with the same row labels that are compared, at most.
_MOST_ALIKE = 8
_TOKEN = re.compile(r"[^\W\d_]+|\d+")


@lru_cache(maxsize=4096)
def tokens_of(header: str) -> frozenset[str]:
    return frozenset(_TOKEN.findall(normalise_value(header).lower()))


def header_likeness(gold: Sequence[str], other: Sequence[str]) -> NDArray[np.float64]:
    """Return how well the headers of the prediction's columns say which gold column they are, in
    [0, 1]; 0 if they do not say."""
    own = [tokens_of(header) for header in gold]
    common = frozenset.intersection(*own) if own else frozenset()
    known = frozenset().union(*own) - common
    read = [tokens_of(header) & known for header in other]
    likeness = np.zeros((len(gold), len(other)))
    for i, mine in enumerate(own):
        for j, theirs in enumerate(read):
            union = (mine & known) | theirs
            if theirs and union:
                likeness[i, j] = len(mine & theirs) / len(union)
    return likeness


def match_columns(likeness: NDArray[np.float64], contents: NDArray[np.float64]) -> dict[int, int]:
    """Return the prediction's column of each gold column, as far as it is known."""
    rows, columns = likeness.shape
    if not rows or not columns:
        return {}
    in_order = _in_order(_HEADER * likeness + _PAIR + _CONTENT * contents)
    best = one_to_one(likeness, maximize=True)
    free = [(int(i), int(j)) for i, j in zip(*best, strict=True) if likeness[i, j] >= _SURE]
    gain = sum(likeness[i, j] for i, j in free) - sum(likeness[i, j] for i, j in in_order)
    if gain > _CLEARLY:
        return dict(free)
    if not likeness.any():
        return {}
    if rows == columns:
        return dict(in_order)
    return {i: j for i, j in in_order if likeness[i, j] > 0 or contents[i, j] >= _SURE}


def _in_order(scores: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs of rows and columns with the greatest sum that are in the same order."""
    rows, columns = scores.shape
    best = np.zeros((rows + 1, columns + 1))
    for i in range(rows):
        for j in range(columns):
            best[i + 1, j + 1] = max(best[i, j] + scores[i, j], best[i, j + 1], best[i + 1, j])
    pairs = []
    i, j = rows, columns
    while i and j:
        if best[i, j] == best[i - 1, j]:
            i -= 1
        elif best[i, j] == best[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def match_tables(
    gold: Tables, other: Tables, aligned: Mapping[tuple[int, int], float]
) -> dict[int, int]:
    """Return the gold table of each of the prediction's, among several with the same row labels.

    Captions and headers count most, then equal values. `aligned` has the share of a table's labels
    that the texts align with those of a gold table, by the numbers of the two.
    """
    alike: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for label, rows in other.labels.items():
        own = {t for t, _ in gold.labels.get(label, ())}
        for u in {u for u, _ in rows} if len(own) > 1 else ():
            alike[u].update(own)
    found = {}
    for u, shared in alike.items():
        # A table of more rows may be several in one.
        most = other.rows_of(u) / _MOST_ROWS
        tables = [t for t, _ in shared.most_common(_MOST_ALIKE)]
        if any(gold.rows_of(t) < most for t in tables):
            continue
        captions = header_likeness([gold.caption(t) for t in tables], [other.caption(u)])[:, 0]
        scores = [
            _CAPTION * caption
            + _VALUES * _share_of_equal(gold.digits(t), other.digits(u))
            + _ALIGNED * aligned.get((t, u), 0.0)
            for t, caption in zip(tables, captions.tolist(), strict=True)
        ]
        ranked = sorted(zip(scores, tables, strict=True), reverse=True)
        if ranked[0][0] - ranked[1][0] >= _LEAD:
            found[u] = ranked[0][1]
    return found


def _share_of_equal(gold: Counter[str], other: Counter[str]) -> float:
    return (gold & other).total() / max(1, min(gold.total(), other.total()))
