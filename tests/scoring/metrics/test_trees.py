"""Tree edit distance: by hand, the plain implementation, and apted and zss as references."""

import sys
from typing import Any

import apted  # type: ignore[import-untyped]
import numpy as np
import pytest
import zss  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.metrics import TooLargeError
from scoring.metrics.trees import (
    MOST_PAIRS,
    Costs,
    Tree,
    check_size,
    tree_edit_distance,
    tree_of,
)

from .plain import plain_tree_edit_distance

KINDS = 4


@st.composite
def trees(draw: st.DrawFn, largest: int = 14) -> Tree:
    """Trees of any shape: each node is a child of a node on the path to the previous one."""
    size = draw(st.integers(1, largest))
    parents, path = [-1], [0]
    for node in range(1, size):
        path = path[: draw(st.integers(1, len(path)))]
        parents.append(path[-1])
        path.append(node)
    return tree_of(parents, draw(st.lists(st.integers(0, KINDS - 1), min_size=size, max_size=size)))


@st.composite
def costs(draw: st.DrawFn) -> Costs:
    """Costs that need not even be a metric."""
    numbers = st.floats(0, 5, allow_nan=False, width=16)
    row = st.lists(numbers, min_size=KINDS, max_size=KINDS)
    table = st.lists(row, min_size=KINDS, max_size=KINDS)
    return Costs(np.array(draw(row)), np.array(draw(row)), np.array(draw(table)))


def unit_costs(kinds: int = KINDS) -> Costs:
    return Costs(np.ones(kinds), np.ones(kinds), 1.0 - np.eye(kinds))


def nested(tree: Tree) -> tuple[int, list[Any]]:
    """The tree as (kind, children)."""
    done: list[tuple[int, tuple[int, list[Any]]]] = []
    for leftmost, kind in zip(tree.leftmost.tolist(), tree.kinds.tolist(), strict=True):
        children: list[tuple[int, list[Any]]] = []
        while done and done[-1][0] >= leftmost:
            children.insert(0, done.pop()[1])
        done.append((leftmost, (kind, children)))
    return done[0][1]


def test_distance_by_hand() -> None:
    """Zhang and Shasha's own example: f(d(a, c(b)), e) to f(c(d(a, b)), e) takes two edits."""
    f, d, a, c, b, e = range(6)
    first = tree_of([-1, 0, 1, 1, 3, 0], [f, d, a, c, b, e])
    second = tree_of([-1, 0, 1, 2, 2, 0], [f, c, d, a, b, e])
    assert tree_edit_distance(first, second, unit_costs(6)) == 2.0
    assert plain_tree_edit_distance(first, second, unit_costs(6)) == 2.0


def test_single_nodes_are_renamed_or_replaced_whichever_is_cheaper() -> None:
    one, other = tree_of([-1], [0]), tree_of([-1], [1])
    dear = Costs(np.ones(2), np.ones(2), np.array([[0.0, 9.0], [9.0, 0.0]]))
    assert tree_edit_distance(one, other, unit_costs(2)) == 1.0
    assert tree_edit_distance(one, other, dear) == 2.0


@given(trees(), trees(), costs())
def test_compiled_and_plain_agree(first: Tree, second: Tree, chosen: Costs) -> None:
    fast = tree_edit_distance(first, second, chosen)
    assert fast == pytest.approx(plain_tree_edit_distance(first, second, chosen), abs=1e-9)


@given(trees(), trees())
def test_unit_distance_is_a_metric(first: Tree, second: Tree) -> None:
    distance = tree_edit_distance(first, second, unit_costs())
    assert distance == tree_edit_distance(second, first, unit_costs())
    assert abs(first.size - second.size) <= distance <= first.size + second.size
    assert tree_edit_distance(first, first, unit_costs()) == 0.0


@given(trees(), trees(), trees())
def test_triangle_inequality(first: Tree, second: Tree, third: Tree) -> None:
    there = tree_edit_distance(first, second, unit_costs())
    on = tree_edit_distance(second, third, unit_costs())
    assert tree_edit_distance(first, third, unit_costs()) <= there + on


class Reference(apted.Config):  # type: ignore[misc]
    def __init__(self, chosen: Costs) -> None:
        self.costs = chosen

    def children(self, node: tuple[int, list[Any]]) -> list[Any]:
        return node[1]

    def rename(self, first: tuple[int, list[Any]], second: tuple[int, list[Any]]) -> float:
        return float(self.costs.rename[first[0], second[0]])


@given(trees(largest=25), trees(largest=25))
@settings(max_examples=60, deadline=None)
def test_apted_finds_nothing_cheaper(first: Tree, second: Tree) -> None:
    """apted 1.0.3 misses the minimum for some trees; zss and the plain implementation agree with
    us.

    No table has been found among them: see `test_tables`.
    """
    rename = np.abs(np.subtract.outer(np.arange(KINDS), np.arange(KINDS))) / KINDS
    chosen = Costs(np.ones(KINDS), np.ones(KINDS), rename)
    reference = apted.APTED(nested(first), nested(second), Reference(chosen))
    distance = tree_edit_distance(first, second, chosen)
    assert distance <= reference.compute_edit_distance() + 1e-9


def reference_node(node: tuple[int, list[Any]]) -> Any:
    made = zss.Node(str(node[0]))
    for child in node[1]:
        made.addkid(reference_node(child))
    return made


@given(trees(largest=25), trees(largest=25), costs())
@settings(max_examples=60, deadline=None)
def test_zss_agrees(first: Tree, second: Tree, chosen: Costs) -> None:
    expected = zss.distance(
        reference_node(nested(first)),
        reference_node(nested(second)),
        zss.Node.get_children,
        insert_cost=lambda node: chosen.insert[int(node.label)],
        remove_cost=lambda node: chosen.delete[int(node.label)],
        update_cost=lambda one, other: chosen.rename[int(one.label), int(other.label)],
    )
    assert tree_edit_distance(first, second, chosen) == pytest.approx(float(expected), abs=1e-9)


@pytest.mark.parametrize(
    ("parents", "kinds"),
    [
        ([], []),
        ([0], [1]),
        ([-1, 0], [1]),
        ([-1, 1], [0, 0]),
        ([-1, -1], [0, 0]),
        ([-1, 0, 5], [0] * 3),
    ],
)
def test_invalid_trees_are_refused(parents: list[int], kinds: list[int]) -> None:
    with pytest.raises(ValueError, match=r"tree needs|is not below"):
        tree_of(parents, kinds)


def test_deep_trees_need_no_stack() -> None:
    chain = tree_of(range(-1, sys.getrecursionlimit() * 2), [0] * (sys.getrecursionlimit() * 2 + 1))
    assert tree_edit_distance(chain, tree_of([-1], [0]), unit_costs()) == chain.size - 1


def test_too_many_pairs_are_refused() -> None:
    wide = tree_of([-1] + [0] * 4000, [0] * 4001)
    with pytest.raises(TooLargeError, match="4,001 and 4,001 nodes"):
        check_size(wide, wide)
    assert wide.size**2 > MOST_PAIRS


def test_too_many_steps_are_refused() -> None:
    """A comb: every node has a leaf and the rest of the comb below it, in this order."""
    parents = [-1]
    for node in range(0, 2000, 2):
        parents += [node, node]
    comb = tree_of(parents, [0] * len(parents))
    assert comb.size**2 < MOST_PAIRS
    with pytest.raises(TooLargeError, match="this deep"):
        tree_edit_distance(comb, comb, unit_costs())


def test_a_large_flat_tree_takes_few_steps() -> None:
    parents = [-1]
    for _ in range(250):
        row = len(parents)
        parents += [0] + [row] * 10
    table = tree_of(parents, [0] * len(parents))
    assert table.work < 3 * table.size
    assert tree_edit_distance(table, table, unit_costs()) == 0.0
