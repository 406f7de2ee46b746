"""Without numba, as in a light installation, the loops give the same figures to the last bit."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics import compiled
from scoring.metrics.trees import Costs, Tree

from .test_trees import costs, trees


def _without_numba() -> Any:
    spec = spec_from_file_location("scoring.metrics.not_compiled", compiled.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with patch.dict(sys.modules, {"numba": None}):
        spec.loader.exec_module(module)
    return module


PLAIN = _without_numba()


def test_one_is_compiled_and_the_other_is_not() -> None:
    assert PLAIN.distance is PLAIN._distance
    assert PLAIN._njit is None
    assert hasattr(compiled.distance, "nopython_signatures")


@given(trees(), trees(), costs())
def test_distances_are_equal(first: Tree, second: Tree, chosen: Costs) -> None:
    arguments = (
        first.leftmost, second.leftmost, first.keyroots, second.keyroots, first.kinds,
        second.kinds, chosen.delete[first.kinds], chosen.insert[second.kinds], chosen.rename,
    )  # fmt: skip
    assert PLAIN.distance(*arguments) == compiled.distance(*arguments)


@given(st.integers(1, 7), st.integers(0, 4), st.integers(0, 2**32 - 1), st.booleans())
def test_assignments_are_equal(rows: int, more: int, seed: int, forbids: bool) -> None:
    draw = np.random.default_rng(seed)
    cost = draw.choice([0.1, 0.2, 0.7, np.inf if forbids else 1.3], (rows, rows + more))
    found = np.empty(rows, np.int32), np.empty(rows, np.int32)
    assert PLAIN.assign(cost, found[0]) == compiled.assign(cost, found[1])
    assert found[0].tolist() == found[1].tolist()


@pytest.mark.parametrize("size", [1, 2000])
def test_weighted_sums_are_equal(size: int) -> None:
    """Summed in the same order; another order would differ in the last digits."""
    draw = np.random.default_rng(7)
    values = draw.random(size) * 10.0 ** draw.integers(-8, 8, size)
    documents, groups = draw.integers(0, 50, size), draw.integers(0, 3, size)
    weights = draw.integers(0, 4, (20, 50))
    totals = np.ones((20, 3)), np.ones((20, 3))
    for module, total in zip((PLAIN, compiled), totals, strict=True):
        module.add_weighted(values, documents, groups, weights, total)
    assert totals[0].tolist() == totals[1].tolist()
    assert totals[0].max() > 1
