"""What an answer adds to the figures that have an interval."""

from collections.abc import Iterator, Mapping
from typing import Any

from scoring.benchmarks.contributions import Contribution

OVERALL = "overall"


def contributions(
    result: Mapping[str, Any],
    options: Mapping[str, str],  # noqa: ARG001 - what they change has been done to the result
) -> Iterator[Contribution]:
    """Its F1, in the mean of its subtask; a task is the mean of these, `overall` of the tasks."""
    if (f1 := result["f1"]) is None:
        return
    task, subtask = result["task"], result["subtask"]
    yield Contribution(task, f1, part=(subtask,))
    yield Contribution(OVERALL, f1, part=(task, subtask))


def stratum(result: Mapping[str, Any]) -> str:
    return f"{result['task']} {result['subtask']}"
