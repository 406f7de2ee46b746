"""Ordered tree edit distance with any costs, and one-to-one assignment.

The distance is the least total cost of deleting, inserting and renaming nodes that turns one
ordered, labelled tree into another. Source: K. Zhang, D. Shasha, Simple fast algorithms for the
editing distance between trees and related problems, SIAM J. Comput. 18(6), 1989.

`tree_edit_distance` runs compiled code (see `compiled`). The tests check it against a slow,
readable implementation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from scoring.metrics import TooLargeError

Indices = NDArray[np.intp]


def one_to_one(values: NDArray[np.float64], *, maximize: bool = False) -> tuple[Indices, Indices]:
    """Return rows and the column of each that minimise the sum of `values`, or with `maximize`
    maximise it.

    Raises ValueError where no assignment has a finite sum, and for values that are no numbers.

    >>> rows, columns = one_to_one(np.array([[1.0, 2.0], [1.0, 4.0]]))
    >>> columns.tolist()
    [1, 0]
    """
    from .compiled import assign

    cost = np.ascontiguousarray(-values if maximize else values, dtype=np.float64)
    if np.isnan(cost).any() or (cost == -np.inf).any():
        raise ValueError("the values hold nan or an infinity of the wrong sign")
    is_wide = cost.shape[0] <= cost.shape[1]
    cost = cost if is_wide else np.ascontiguousarray(cost.T)
    found = np.empty(cost.shape[0], dtype=np.int32)
    if not assign(cost, found):
        raise ValueError("every assignment has a forbidden pair")
    if is_wide:
        return np.arange(found.size), found.astype(np.intp)
    order = np.argsort(found)
    return found[order].astype(np.intp), order


Integers = NDArray[np.int32]
Floats = NDArray[np.float64]

# Two tables of this many entries are kept while a distance is computed, 8 bytes each.
MOST_PAIRS = 9_000_000
# Steps of the innermost loop; a core does some hundred million per second. Only trees that are both
# large and deep come close: a flat tree of n nodes, such as a table, counts 3n.
MOST_STEPS = 1_000_000_000


@dataclass(frozen=True, eq=False)
class Tree:
    """An ordered tree, its nodes in postorder.

    `leftmost[i]` is the postorder number of the leftmost leaf below node i (i itself if it is a
    leaf), `kinds[i]` the row of the cost tables for node i. Both have shape (nodes,).
    """

    leftmost: Integers
    kinds: Integers

    @property
    def size(self) -> int:
        return len(self.kinds)

    @cached_property
    def keyroots(self) -> Integers:
        """The root and every node with a sibling to its left, ascending: of the nodes with the same
        leftmost leaf, the highest."""
        highest = np.full(self.size, -1, dtype=np.int32)
        highest[self.leftmost] = np.arange(self.size, dtype=np.int32)
        return np.sort(highest[highest >= 0])

    @cached_property
    def work(self) -> int:
        """Nodes below all keyroots together; the product for two trees is the number of steps."""
        return int((self.keyroots - self.leftmost[self.keyroots] + 1).sum(dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Costs:
    """The costs to delete a node of the first tree, insert one of the second, and rename one.

    Indexed by the kinds of nodes: shapes (kinds of the first,), (kinds of the second,) and (kinds
    of the first, kinds of the second). No cost may be negative.
    """

    delete: Floats
    insert: Floats
    rename: Floats


def tree_of(parents: Sequence[int], kinds: Sequence[int]) -> Tree:
    """Build the tree with these nodes, given in document order (preorder).

    `parents[i]` is the position of node i's parent, which comes before it; the root's, and only the
    root's, is -1. Raises ValueError if the nodes are not a tree in document order.

    >>> tree = tree_of([-1, 0, 1, 0], [5, 6, 7, 8])
    >>> tree.kinds.tolist(), tree.leftmost.tolist()
    ([7, 6, 8, 5], [0, 0, 2, 0])
    """
    if len(parents) != len(kinds) or not parents or parents[0] != -1:
        raise ValueError("a tree needs a root, and a parent and a kind for each node")
    path: list[tuple[int, int]] = []  # the open nodes, and how many were done before each
    leftmost: list[int] = []
    order: list[int] = []
    for node, parent in enumerate(parents):
        while path and path[-1][0] != parent:
            _close(path, kinds, leftmost, order)
        if node and not path:
            raise ValueError(f"node {node} is not below its parent {parent}")
        path.append((node, len(order)))
    while path:
        _close(path, kinds, leftmost, order)
    return Tree(np.array(leftmost, dtype=np.int32), np.array(order, dtype=np.int32))


def _close(
    path: list[tuple[int, int]], kinds: Sequence[int], leftmost: list[int], order: list[int]
) -> None:
    """Move the last open node, whose children are all done, into the postorder."""
    node, done_before = path.pop()
    leftmost.append(done_before)
    order.append(kinds[node])


def tree_edit_distance(first: Tree, second: Tree, costs: Costs) -> float:
    """The cost of the cheapest edit script, 0 for equal trees; lower is better.

    min over all scripts of Σ delete + Σ insert + Σ rename, in the unit of the costs. Raises
    TooLargeError beyond MOST_PAIRS pairs of nodes or MOST_STEPS steps. Source: Zhang, Shasha 1989.

    >>> costs = Costs(np.ones(2), np.ones(2), np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> tree_edit_distance(tree_of([-1, 0, 0], [0, 1, 1]), tree_of([-1, 0], [0, 1]), costs)
    1.0
    """
    check_size(first, second)
    # Imported here because compiling, or loading compiled code, takes time that web processes never
    # need to spend.
    from .compiled import distance

    return float(
        distance(
            first.leftmost,
            second.leftmost,
            first.keyroots,
            second.keyroots,
            first.kinds,
            second.kinds,
            costs.delete[first.kinds],
            costs.insert[second.kinds],
            costs.rename,
        )
    )


def check_size(first: Tree, second: Tree) -> None:
    """Raise TooLargeError if the two trees are too large for this module."""
    pairs = first.size * second.size
    if pairs**2 <= MOST_STEPS:
        return  # Such small trees take no more steps than that in any shape.
    if pairs > MOST_PAIRS:
        raise TooLargeError(
            f"trees of {first.size:,} and {second.size:,} nodes have more than {MOST_PAIRS:,} pairs"
        )
    if first.work * second.work > MOST_STEPS:
        raise TooLargeError(
            f"trees of {first.size:,} and {second.size:,} nodes this deep take more than "
            f"{MOST_STEPS:,} steps"
        )
