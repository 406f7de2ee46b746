"""The assignment against scipy's, of which it is a twin down to the choice among equals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment

from scoring.metrics.trees import one_to_one

SHAPES = st.tuples(st.integers(1, 8), st.integers(1, 8))
# Few different values: most assignments have equals.
VALUES = SHAPES.flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0, 1, 2]))
)
FORBIDDING = SHAPES.flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.5, 1.25, np.inf]))
)


def test_least_sum_by_hand() -> None:
    # 1 + 2 + 2 = 5; row by row, the least of each would give 1 + 1 + 4.
    rows, columns = one_to_one(np.array([[4.0, 1, 3], [2, 0, 5], [3, 2, 2]]))
    assert rows.tolist() == [0, 1, 2]
    assert columns.tolist() == [1, 0, 2]


def test_more_rows_than_columns_leave_rows_out() -> None:
    rows, columns = one_to_one(np.array([[5.0], [1.0], [3.0]]))
    assert (rows.tolist(), columns.tolist()) == ([1], [0])


@given(VALUES, st.booleans())
def test_chooses_as_scipy_does(values: np.ndarray, maximize: bool) -> None:
    expected = linear_sum_assignment(values, maximize=maximize)
    found = one_to_one(values, maximize=maximize)
    assert [part.tolist() for part in found] == [part.tolist() for part in expected]


@given(FORBIDDING)
def test_refuses_what_scipy_refuses(values: np.ndarray) -> None:
    try:
        expected = linear_sum_assignment(values)
    except ValueError:
        with pytest.raises(ValueError, match="forbidden pair"):
            one_to_one(values)
    else:
        assert one_to_one(values)[1].tolist() == expected[1].tolist()


@pytest.mark.parametrize("odd", [np.nan, -np.inf])
def test_refuses_values_that_are_no_numbers(odd: float) -> None:
    with pytest.raises(ValueError, match="nan"):
        one_to_one(np.array([[1.0, odd]]))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_nothing_to_assign(shape: tuple[int, int]) -> None:
    assert [part.tolist() for part in one_to_one(np.zeros(shape))] == [[], []]
