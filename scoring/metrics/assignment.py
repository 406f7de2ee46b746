"""The one-to-one assignment of rows to columns that fits best, or costs least, in total."""

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]


def one_to_one(values: NDArray[np.float64], *, maximize: bool = False) -> tuple[Indices, Indices]:
    """Rows and the column of each, for the least sum of `values`, or with `maximize` the greatest.

    Hungarian algorithm (Kuhn, 1955), as scipy has it.

    >>> rows, columns = one_to_one(np.array([[1.0, 2.0], [1.0, 4.0]]))
    >>> columns.tolist()
    [1, 0]
    """
    # Imported here because scipy takes 50 MB and half a second, which web processes that only read
    # what a benchmark is never need to spend.
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(values, maximize=maximize)
    return rows, columns
