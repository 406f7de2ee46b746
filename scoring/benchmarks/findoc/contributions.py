"""What a document adds to the figures that have an interval."""

from collections.abc import Iterator, Mapping
from typing import Any

from scoring.benchmarks.contributions import Contribution

from .columns import FINAL, PARTS


def contributions(
    result: Mapping[str, Any],
    options: Mapping[str, str],  # noqa: ARG001 - what they change has been done to the result
) -> Iterator[Contribution]:
    if result[FINAL] is None:
        return
    for key in (*PARTS, FINAL):
        yield Contribution(key, result[key])
