"""A minimal benchmark. See README.md in this folder."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scoring.benchmarks.base import (
    Benchmark,
    Column,
    GoldLine,
    PredictionLine,
    ReportedRow,
    Scores,
    View,
)
from scoring.benchmarks.checking import check_id, read_lines
from scoring.benchmarks.items import ItemResult, ItemSummary, Options, Payload
from scoring.benchmarks.options import complete_options
from scoring.benchmarks.reading import (
    DEFAULT_LIMITS,
    ReadFault,
    ReadLimits,
    Record,
    Source,
    read_records,
)

LARGE = 100

COLUMNS = (Column("right", "Right", "Sums", "Right answers, of all questions", rank="board"),)
PAPER = ReportedRow(
    name="Abacus",
    organisation="",
    size="",
    category="other",
    protocol="paper",
    scores={"right_large": 0.25},
    provenance="Toy, Table 2",
    provenance_url="https://example.org/toy",
)
LARGE_SUMS = View(
    "large",
    "Large sums",
    f"Questions whose answer is at least {LARGE}.",
    (Column("right_large", "Right", "Large sums", "Right answers", rank="board"),),
    (PAPER,),
)


def check_options(raw: Mapping[str, object]) -> Options:
    return complete_options((), raw)


def columns_for(options: Options) -> tuple[Column, ...]:
    return COLUMNS


def views_for(options: Options) -> tuple[View, ...]:
    return (LARGE_SUMS,)


def read_gold(
    source: Source, *, options: Options | None = None, limits: ReadLimits = DEFAULT_LIMITS
) -> Iterator[GoldLine | ReadFault]:
    return read_lines(GoldLine, read_records(source, limits), _problem, dict)


def read_predictions(
    source: Source, *, limits: ReadLimits = DEFAULT_LIMITS
) -> Iterator[PredictionLine | ReadFault]:
    return read_lines(PredictionLine, read_records(source, limits), _problem, dict)


def _problem(record: Record) -> str | None:
    return check_id(record) or _sum_problem(record)


def _sum_problem(record: Record) -> str | None:
    return None if isinstance(record.value.get("sum"), int) else "'sum' must be a whole number"


def score_item(gold: Payload, prediction: Payload | None, options: Options) -> ItemResult:
    return {
        "id": gold["id"],
        "missing": prediction is None,
        "large": gold["sum"] >= LARGE,
        "right": prediction is not None and prediction["sum"] == gold["sum"],
    }


def aggregate(results: Iterable[ItemResult], options: Options) -> Scores:
    items = missing = right = large = large_right = 0
    for result in results:
        items += 1
        missing += result["missing"]
        right += result["right"]
        large += result["large"]
        large_right += result["large"] and result["right"]
    return Scores(
        items=items,
        missing=missing,
        scores={"right": _share(right, items), "right_large": _share(large_right, large)},
        counts={"right": right},
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def summarise(result: Mapping[str, Any], options: Mapping[str, str]) -> ItemSummary:
    return ItemSummary(float(result["right"]), "large" if result["large"] else "small")


TOY = Benchmark.of(
    sys.modules[__name__],
    key="toy",
    version="1",
    title="Toy sums",
    names_every_id=True,
    example='{"id": "q1", "sum": 42}',
)
