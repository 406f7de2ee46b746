"""How long a call takes."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def best_of(call: Callable[[], T], rounds: int = 3) -> tuple[float, T]:
    """The shortest of some runs in seconds, which was disturbed least by other processes, and
    the result of the call."""
    shortest = float("inf")
    for _ in range(rounds):
        begun = time.perf_counter()
        result = call()
        shortest = min(shortest, time.perf_counter() - begun)
    return shortest, result
