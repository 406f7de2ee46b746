"""The loops that Python is too slow for, compiled: tree edit distance, assignment, weighted sums.

Imported only where one of them runs: to load numba takes half a second and 100 MB. Without numba
the same functions run as plain Python, with equal results: a tree edit distance of two tables of
400 cells then takes three seconds.

Numba stores the machine code in NUMBA_CACHE_DIR if that is set, else next to this file, else in the
user's cache folder. If none is writable, every process compiles it again.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    _njit: Any = import_module("numba").njit
except ImportError:  # a light installation, without the extra `fast`
    _njit = None

Integers = NDArray[np.int32]
Positions = NDArray[np.int64]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


def _compiled(signature: str, function: Callable[..., Any]) -> Callable[..., Any]:
    if _njit is None:
        return function
    try:
        compiled: Callable[..., Any] = _njit(signature, cache=True)(function)
    except RuntimeError:
        # "no locator available": there is no writable folder for the machine code.
        compiled = _njit(signature)(function)
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


def _free_column(
    cost: Floats,
    row_price: Floats,
    column_price: Floats,
    row_of: Integers,
    first: int,
    came_from: Integers,
    length: Floats,
    is_seen_row: Flags,
    is_seen_column: Flags,
) -> int:
    """The free column at the end of the shortest path of exchanges from row `first`; -1: none.

    Fills the last four: the row before each column of the path, the length of the path to it, and
    the rows and columns that were passed.
    """
    columns = cost.shape[1]
    # Backwards: of equal columns the last one is taken.
    waiting = np.arange(columns - 1, -1, -1)
    left, row, shortest = columns, first, 0.0
    while True:
        is_seen_row[row] = True
        lowest, chosen = np.inf, -1
        for place in range(left):
            column = waiting[place]
            path = shortest + cost[row, column] - row_price[row] - column_price[column]
            if path < length[column]:
                came_from[column] = row
                length[column] = path
            is_free = row_of[column] == -1
            if length[column] < lowest or (length[column] == lowest and is_free):
                lowest, chosen = length[column], place
        if lowest == np.inf:
            return -1
        shortest, column = lowest, waiting[chosen]
        is_seen_column[column] = True
        if row_of[column] == -1:
            return int(column)
        row = row_of[column]
        left -= 1
        waiting[chosen] = waiting[left]


_free_column_compiled = _compiled(
    "i8(f8[:,::1],f8[::1],f8[::1],i4[::1],i8,i4[::1],f8[::1],b1[::1],b1[::1])", _free_column
)


def _assign(cost: Floats, column_of: Integers) -> bool:
    """Fills `column_of[row]` so that the sum of the costs is least; False if there is no way.

    `cost` has at most as many rows as columns, and is infinite where a pair is forbidden. Shortest
    augmenting paths after D. F. Crouse, *On implementing 2D rectangular assignment algorithms*
    (2016): rows are added one by one, and prices of rows and columns keep what a pair costs beyond
    them at zero or above.
    """
    rows, columns = cost.shape
    row_price, column_price = np.zeros(rows), np.zeros(columns)
    row_of = np.full(columns, -1, np.int32)
    came_from = np.full(columns, -1, np.int32)
    column_of[:] = -1
    for first in range(rows):
        length = np.full(columns, np.inf)
        is_seen_row, is_seen_column = np.zeros(rows, np.bool_), np.zeros(columns, np.bool_)
        column = _free_column_compiled(
            cost, row_price, column_price, row_of, first,
            came_from, length, is_seen_row, is_seen_column,
        )  # fmt: skip
        if column == -1:
            return False
        shortest = length[column]
        row_price[first] += shortest
        for row in range(rows):
            if is_seen_row[row] and row != first:
                row_price[row] += shortest - length[column_of[row]]
        column_price -= np.where(is_seen_column, shortest - length, 0.0)
        row = -1
        while row != first:
            row = came_from[column]
            row_of[column] = row
            column, column_of[row] = column_of[row], column
    return True


assign = _compiled("b1(f8[:,::1],i4[::1])", _assign)


def _add_weighted(
    values: Floats, documents: Positions, groups: Positions, weights: Positions, totals: Floats
) -> None:
    """Adds `weights[r, documents[i]] * values[i]` to `totals[r, groups[i]]`, in the order of i."""
    for r in range(weights.shape[0]):
        for i in range(values.size):
            totals[r, groups[i]] += weights[r, documents[i]] * values[i]


def _add_weighted_by_numpy(
    values: Floats, documents: Positions, groups: Positions, weights: Positions, totals: Floats
) -> None:
    """The same sums in the same order, for a process without numba."""
    for r in range(weights.shape[0]):
        np.add.at(totals[r], groups, weights[r, documents] * values)


add_weighted = (
    _add_weighted_by_numpy
    if _njit is None
    else _compiled("void(f8[::1],i8[::1],i8[::1],i8[:,::1],f8[:,::1])", _add_weighted)
)
