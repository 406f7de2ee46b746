"""Benchmarks: what is graded, how it is read, and what the figures are called.

A benchmark is a folder with its card (README.md) and a `Benchmark`, listed here. Nothing
registers itself.
"""

from difflib import get_close_matches

from .base import (
    Benchmark,
    Column,
    GoldLine,
    ItemResult,
    OptionError,
    Options,
    Payload,
    PredictionLine,
    ReportedRow,
    RuleTable,
    Scores,
    View,
    deciding_column,
)
from .ccocr import CCOCR
from .checking import GoldCheck, PredictionCheck, check_gold, check_predictions
from .fcmbench import FCMBENCH
from .fincriticaled import FINCRITICALED
from .findoc import FINDOC
from .reading import ReadFault, ReadLimits
from .receiptbench import RECEIPTBENCH

BENCHMARKS: dict[str, Benchmark] = {
    FINCRITICALED.key: FINCRITICALED,
    FCMBENCH.key: FCMBENCH,
    FINDOC.key: FINDOC,
    RECEIPTBENCH.key: RECEIPTBENCH,
    CCOCR.key: CCOCR,
}


class UnknownBenchmarkError(LookupError):
    """No benchmark has this key; the message names the nearest ones."""

    def __init__(self, key: str) -> None:
        near = get_close_matches(key, BENCHMARKS, n=3)
        hint = (
            f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(BENCHMARKS)}"
        )
        super().__init__(f"no benchmark is called {key!r}; {hint}")


def get_benchmark(key: str) -> Benchmark:
    """The benchmark with this key; raises UnknownBenchmarkError."""
    try:
        return BENCHMARKS[key]
    except KeyError:
        raise UnknownBenchmarkError(key) from None


__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "Column",
    "GoldCheck",
    "GoldLine",
    "ItemResult",
    "OptionError",
    "Options",
    "Payload",
    "PredictionCheck",
    "PredictionLine",
    "ReadFault",
    "ReadLimits",
    "ReportedRow",
    "RuleTable",
    "Scores",
    "UnknownBenchmarkError",
    "View",
    "check_gold",
    "check_predictions",
    "deciding_column",
    "get_benchmark",
]
