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
from .charts import Chart, common_charts
from .checking import GoldCheck, PredictionCheck, check_gold, check_predictions
from .reading import ReadFault, ReadLimits
from .registry import Registry
from .task_tree import TaskTree, TreeItem, TreeStage, TreeTask

BENCHMARKS = Registry(
    {
        "fincriticaled": "scoring.benchmarks.fincriticaled:FINCRITICALED",
        "fcmbench": "scoring.benchmarks.fcmbench:FCMBENCH",
        "findoc": "scoring.benchmarks.findoc:FINDOC",
        "receiptbench": "scoring.benchmarks.receiptbench:RECEIPTBENCH",
        "ccocr": "scoring.benchmarks.ccocr:CCOCR",
    }
)


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
    "Chart",
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
    "TaskTree",
    "TreeItem",
    "TreeStage",
    "TreeTask",
    "UnknownBenchmarkError",
    "View",
    "check_gold",
    "check_predictions",
    "common_charts",
    "deciding_column",
    "get_benchmark",
]
