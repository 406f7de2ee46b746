"""What an image adds to the figures that have an interval."""

from collections.abc import Iterator, Mapping
from typing import Any

from scoring.benchmarks.contributions import Contribution

OVERALL, REPETITION = "overall", "repetition"
# The figure by which a subset of each op goes; of the fields of records it is F1, see below.
_VALUES = {"ocr": "f1", "doc": "score", "formula": "score", "molecular": "score", "table": "teds"}
_RECORD = "kie"


def contributions(
    result: Mapping[str, Any],
    options: Mapping[str, str],  # noqa: ARG001 - what they change has been done to the result
) -> Iterator[Contribution]:
    """Its part in the figure of its subset; a track is the mean of its subsets. Grounding, and
    images that state an orientation, are of no track.
    """
    if not result["missing"]:
        yield Contribution(REPETITION, float(bool(result["repetitive"])))
    track, op = result["track"], result["op"]
    if result["orientation"] is not None or (op not in _VALUES and op != _RECORD):
        return
    amount = _of_subset(result)
    # The same name may be a subset of several ops.
    subset = f"{op} {result['subset']}"
    yield Contribution(track, *amount, part=(subset,))
    yield Contribution(OVERALL, *amount, part=(track, subset))


def stratum(result: Mapping[str, Any]) -> str:
    return f"{result['track']} {result['op']} {result['subset']} {result['orientation']}"


def _of_subset(result: Mapping[str, Any]) -> tuple[float, float]:
    """Numerator and denominator. F1 = TP / (TP + (FP + FN) / 2), over all fields of a subset."""
    if result["op"] != _RECORD:
        return result[_VALUES[result["op"]]], 1.0
    return result["tp"], result["tp"] + (result["fp"] + result["fn"]) / 2
