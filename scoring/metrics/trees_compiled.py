"""The tree edit distance, compiled. Imported only where a distance is computed (see `trees`).

Numba stores the machine code in NUMBA_CACHE_DIR if that is set, else next to this file, else in the
user's cache folder. If none is writable, every process compiles it again.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int32]
Floats = NDArray[np.float64]


def _compiled(signature: str, function: Callable[..., Any]) -> Callable[..., Any]:
    try:
        compiled: Callable[..., Any] = numba.njit(signature, cache=True)(function)
    except RuntimeError:
        # "no locator available": there is no writable folder for the machine code.
        compiled = numba.njit(signature)(function)
    return compiled


def _leaf_distances(
    leftmost: Integers, whole: float, cost: Floats, rename: Floats, distances: Floats
) -> None:
    """Fill `distances[y]`, the distance of a single node from the whole tree below y.

    The single node is renamed to some node and all others are inserted, or it is deleted, for
    `whole`, and all are inserted. `cost[y]` is the cost of inserting node y, `rename[y]` that of
    renaming to it.
    """
    total = np.empty(cost.size)
    for y in range(cost.size):
        total[y] = cost[y]
        best = min(whole, rename[y] - cost[y])
        child = y - 1
        while child >= leftmost[y]:
            total[y] += total[child]
            # Here `distances` holds what the best position of the single node adds to the total.
            best = min(best, distances[child])
            child = leftmost[child] - 1
        distances[y] = best
    for y in range(cost.size):
        distances[y] += total[y]


_leaf_distances_compiled = _compiled("void(i4[::1],f8,f8[::1],f8[::1],f8[::1])", _leaf_distances)


def _fill_forests(
    leftmost: Integers,
    other_leftmost: Integers,
    i: int,
    j: int,
    delete: Floats,
    insert: Floats,
    rename: Floats,
    kinds: Integers,
    other_kinds: Integers,
    trees: Floats,
    forest: Floats,
) -> None:
    """Fill `trees[x, y]` for the nodes that share their leftmost leaves with keyroots i and j.

    `forest[a, b]` is the distance of the first a nodes below i and the first b nodes below j.
    """
    left, top = leftmost[i], other_leftmost[j]
    forest[0, 0] = 0.0
    for y in range(top, j + 1):
        forest[0, y - top + 1] = forest[0, y - top] + insert[y]
    for x in range(left, i + 1):
        a = x - left + 1
        before = leftmost[x] - left
        is_whole = before == 0
        last = forest[a - 1, 0] + delete[x]
        forest[a, 0] = last
        for y in range(top, j + 1):
            b = y - top + 1
            if is_whole and other_leftmost[y] == top:
                pairing = forest[a - 1, b - 1] + rename[kinds[x], other_kinds[y]]
                last = min(forest[a - 1, b] + delete[x], pairing, last + insert[y])
                trees[x, y] = last
            else:
                pairing = forest[before, other_leftmost[y] - top] + trees[x, y]
                last = min(forest[a - 1, b] + delete[x], pairing, last + insert[y])
            forest[a, b] = last


_fill_forests_compiled = _compiled(
    "void(i4[::1],i4[::1],i8,i8,f8[::1],f8[::1],f8[:,::1],i4[::1],i4[::1],f8[:,::1],f8[:,::1])",
    _fill_forests,
)


def _distance(
    leftmost: Integers,
    other_leftmost: Integers,
    keyroots: Integers,
    other_keyroots: Integers,
    kinds: Integers,
    other_kinds: Integers,
    delete: Floats,
    insert: Floats,
    rename: Floats,
) -> float:
    """Zhang and Shasha's distance; `delete` and `insert` by node, `rename` by kinds of nodes.

    `trees[x, y]` is the distance of the whole trees below two nodes. Most keyroots of a table or a
    record are leaves; their rows and columns need no forests and are filled first.
    """
    size, other_size = leftmost.size, other_leftmost.size
    trees = np.empty((size, other_size))
    column = np.empty(size)
    by_node = np.empty(max(size, other_size))
    for i in keyroots:
        if leftmost[i] == i:
            for y in range(other_size):
                by_node[y] = rename[kinds[i], other_kinds[y]]
            _leaf_distances_compiled(
                other_leftmost, delete[i], insert, by_node[:other_size], trees[i]
            )
    for j in other_keyroots:
        if other_leftmost[j] == j:
            for x in range(size):
                by_node[x] = rename[kinds[x], other_kinds[j]]
            _leaf_distances_compiled(leftmost, insert[j], delete, by_node[:size], column)
            trees[:, j] = column
    forest = np.empty((size + 1, other_size + 1))
    for i in keyroots:
        for j in other_keyroots:
            if leftmost[i] != i and other_leftmost[j] != j:
                _fill_forests_compiled(
                    leftmost,
                    other_leftmost,
                    i,
                    j,
                    delete,
                    insert,
                    rename,
                    kinds,
                    other_kinds,
                    trees,
                    forest,
                )
    return float(trees[size - 1, other_size - 1])


distance = _compiled(
    "f8(i4[::1],i4[::1],i4[::1],i4[::1],i4[::1],i4[::1],f8[::1],f8[::1],f8[:,::1])", _distance
)
