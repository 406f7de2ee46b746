"""A minimal benchmark. See README.md in this folder."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scoring.benchmarks.base import (
    Benchmark,
    Column,
    GoldLine,
    ItemResult,
    Options,
    Payload,
    PredictionLine,
    ReportedRow,
    Scores,
    View,
    complete_options,
)
from scoring.benchmarks.checking import check_id
from scoring.benchmarks.items import ItemSummary
from scoring.benchmarks.reading import (
    DEFAULT_LIMITS,
    ReadFault,
    ReadLimits,
    Record,
    Source,
    read_records,
)

KEY, VERSION = "toy", "1"
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
    source: Source,
    *,
    options: Options | None = None,
    limits: ReadLimits = DEFAULT_LIMITS,
) -> Iterator[GoldLine | ReadFault]:
    for record in _records(source, limits):
        if isinstance(record, ReadFault):
            yield record
        else:
            yield GoldLine(record.value["id"], record.value, record.file, record.line)


def read_predictions(
    source: Source, *, limits: ReadLimits = DEFAULT_LIMITS
) -> Iterator[PredictionLine | ReadFault]:
    for record in _records(source, limits):
        if isinstance(record, ReadFault):
            yield record
        else:
            yield PredictionLine(record.value["id"], record.value, record.file, record.line)


def _records(source: Source, limits: ReadLimits) -> Iterator[Record | ReadFault]:
    for record in read_records(source, limits):
        if isinstance(record, ReadFault):
            yield record
        elif problem := check_id(record) or _sum_problem(record):
            yield record.fault(problem)
        else:
            yield record


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


def signature(options: Options) -> str:
    return f"{KEY}|v{VERSION}"


TOY = Benchmark(
    key=KEY,
    version=VERSION,
    title="Toy sums",
    check_options=check_options,
    columns_for=columns_for,
    read_gold=read_gold,
    read_predictions=read_predictions,
    score_item=score_item,
    aggregate=aggregate,
    signature=signature,
    summarise=summarise,
    views_for=views_for,
    names_every_id=True,
    example='{"id": "q1", "sum": 42}',
)
