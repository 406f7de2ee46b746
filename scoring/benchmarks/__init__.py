"""Benchmarks: what is graded, how files are read, and which figures are computed.

A benchmark is a folder with a card (README.md) and a `Benchmark` object, listed here. Nothing
registers itself.
"""

import hashlib
import re
from collections import UserDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from scoring.judge import PUBLISHED, published_words

from .base import (
    Benchmark,
    Chart,
    Column,
    GoldLine,
    Headline,
    PredictionLine,
    ReportedRow,
    RuleTable,
    Scores,
    TaskTree,
    TreeItem,
    TreeStage,
    TreeTask,
    View,
    common_charts,
    deciding_column,
)
from .checking import GoldCheck, check_gold, check_predictions
from .graded import WHOLE, FieldName, GradedItem, Sheet
from .items import ItemResult, Options, Payload
from .options import OptionError
from .reading import ReadFault, ReadLimits


class Registry(UserDict[str, Benchmark]):
    """A dict of benchmarks that are imported on first use, from names such as "package:NAME".

    Scorers import numerical libraries that take as long to load as the rest of the site. Starting
    the site, `manage.py prepare` and pages that only need the keys do not load them.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        super().__init__()
        self.data: dict[str, Any] = dict(places)

    def build_by(self, key: str, builder: Callable[[], Benchmark]) -> None:
        """Register a function that builds a known benchmark, once, on first use. It can pass in
        what only the site's settings know. Raises KeyError."""
        if key not in self:
            raise KeyError(key)
        self.data[key] = builder

    def __getitem__(self, key: str) -> Benchmark:
        place = self.data[key]
        if not isinstance(place, Benchmark):
            place = self.data[key] = resolve_name(place) if isinstance(place, str) else place()
        benchmark: Benchmark = place
        return benchmark


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
    """No benchmark has this key; the message suggests similar ones."""

    def __init__(self, key: str) -> None:
        near = get_close_matches(key, BENCHMARKS, n=3)
        hint = (
            f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(BENCHMARKS)}"
        )
        super().__init__(f"no benchmark is called {key!r}; {hint}")


def get_benchmark(key: str) -> Benchmark:
    """Return the benchmark with this key. Raises UnknownBenchmarkError."""
    try:
        return BENCHMARKS[key]
    except KeyError:
        raise UnknownBenchmarkError(key) from None


def benchmark_card(key: str) -> str:
    """Return the card of a benchmark: Markdown, the title in its first line.

    Raises UnknownBenchmarkError."""
    if key not in BENCHMARKS:
        raise UnknownBenchmarkError(key)
    return (Path(__file__).parent / key / "README.md").read_text(encoding="utf-8")


_BIBTEX = re.compile(r"^```bibtex\n(.*?)^```", re.DOTALL | re.MULTILINE)


def benchmark_bibtex(key: str) -> str:
    """Return how to cite the paper of a benchmark, from its card; empty if it has no paper."""
    found = _BIBTEX.search(benchmark_card(key))
    return found[1] if found else ""


__all__ = [
    "BENCHMARKS",
    "WHOLE",
    "Benchmark",
    "Chart",
    "Column",
    "FieldName",
    "GoldCheck",
    "GoldLine",
    "GradedItem",
    "Headline",
    "ItemResult",
    "OptionError",
    "Options",
    "Payload",
    "PredictionLine",
    "ReadFault",
    "ReadLimits",
    "Registry",
    "ReportedRow",
    "RuleTable",
    "Scores",
    "Sheet",
    "TaskTree",
    "TreeItem",
    "TreeStage",
    "TreeTask",
    "UnknownBenchmarkError",
    "View",
    "benchmark_bibtex",
    "benchmark_card",
    "check_gold",
    "check_predictions",
    "common_charts",
    "deciding_column",
    "get_benchmark",
]


_FOLDER = Path(__file__).parent
# The places in the papers that the texts follow, by benchmark.
_SOURCES = {
    "fincriticaled": "FinCriticalED, sections 3.1 and 3.2, which give no prompt",
    "receiptbench": "ReceiptBench, tables 5 and 7",
    "fcmbench": "FCMBench, section 3.2; each item has its own question",
    "ccocr": "CC-OCR, appendix A.3; many items have a prompt of their own",
    "findoc": "financial-document-accuracy, README",
}


@dataclass(frozen=True)
class ItemPrompt:
    """A prompt: its version, its name (`item`, or the kind of item), its text and its source."""

    version: str
    name: str
    text: str
    source: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def item_prompts(benchmark: str) -> tuple[ItemPrompt, ...]:
    """Return the prompts of a benchmark, by version and name; none for an unknown one."""
    source = _SOURCES.get(benchmark, "")
    shipped = tuple(
        ItemPrompt(file.parent.name, file.stem, file.read_text(encoding="utf-8"), source)
        for file in sorted((_FOLDER / benchmark / "prompts").glob("*/*.md"))
    )
    published = tuple(
        ItemPrompt(PUBLISHED, name, text, "the paper's own words, given by the site's operator")
        for name, text in published_words(benchmark).items()
    )
    return shipped + published
