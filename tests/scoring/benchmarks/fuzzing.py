"""Passes any file to a benchmark's readers, grades the usable lines, and checks all output."""

import io
import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, get_args

from scoring.benchmarks import (
    BENCHMARKS,
    GoldLine,
    Payload,
    PredictionLine,
    ReadFault,
    check_gold,
    check_predictions,
)
from scoring.benchmarks.checking import holds_nul
from scoring.benchmarks.items import Options
from tests.many import together
from tests.scoring.benchmarks.samples import SAMPLES, Side, as_lines

# The longest message that a user reads.
LONGEST_MESSAGE = 400

SIDES: list[tuple[str, Side]] = [(key, side) for key in BENCHMARKS for side in get_args(Side)]
LAYOUTS = [(key, side) for key, side in SIDES if side in SAMPLES[key].files]
# Every benchmark's gold and predictions, and those with a published layout of files.
each_side = together("key side", SIDES)
each_layout = together("key side", LAYOUTS)

Read = GoldLine | PredictionLine | ReadFault


class Found(NamedTuple):
    """The outcome for one file: the ids of usable lines, and the faults as printed."""

    ids: list[str]
    faults: list[str]


def lines_of(key: str, side: Side) -> bytes:
    """The sample as JSON Lines."""
    return as_lines(SAMPLES[key].lines(side))


def upload(data: bytes, name: str) -> io.BytesIO:
    """Return the bytes as a file uploaded by a browser."""
    file = io.BytesIO(data)
    file.name = name
    return file


def put_before(key: str, side: Side, source: bytes | Path, name: str = "x.jsonl") -> Found:
    """Read a source, grade its usable lines against the sample, and check every output.

    Bytes are an upload of that name. Nothing may be raised; a fault names file and line in a few
    words; a result is JSON that every database can store; a figure is None or finite.
    """
    called = str(source) if isinstance(source, Path) else name
    lines: list[Read] = []
    for line in _read(key, side, source if isinstance(source, Path) else upload(source, name)):
        assert line.file.startswith(called)
        assert line.line >= 0
        lines.append(line)
    faults = [line for line in lines if isinstance(line, ReadFault)]
    usable = {line.id: line.payload for line in lines if not isinstance(line, ReadFault)}
    for fault in faults:
        _check_fault(fault)
    _grade(key, side, usable)
    ids = [line.id for line in lines if not isinstance(line, ReadFault)]
    return Found(ids, list(map(str, faults)))


def checked(key: str, side: Side, source: bytes) -> list[str]:
    """Return the faults of the whole file, including repeated ids and files without items."""
    lines = _read(key, side, upload(source, "x.jsonl"))
    if side == "gold":
        gold = check_gold((line for line in lines if not isinstance(line, PredictionLine)), "x")
        return list(map(str, gold.faults))
    known = [line.id for line in _sample(key, "gold").values()]
    rest = (line for line in lines if not isinstance(line, GoldLine))
    return list(map(str, check_predictions(rest, known, "x").faults))


def _read(key: str, side: Side, source: Path | io.BytesIO) -> Iterator[Read]:
    benchmark = BENCHMARKS[key]
    if side == "gold":
        yield from benchmark.read_gold(source, options=_options(key))
    else:
        yield from benchmark.read_predictions(source)


def _check_fault(fault: ReadFault) -> None:
    assert fault.message
    assert len(fault.message) <= LONGEST_MESSAGE, fault.message[:LONGEST_MESSAGE]
    assert len(fault.id or "") <= LONGEST_MESSAGE
    str(fault).encode("utf-8")


@cache
def _options(key: str) -> Options:
    return BENCHMARKS[key].check_options({})


@cache
def _sample(key: str, side: Side) -> dict[str, GoldLine | PredictionLine]:
    lines = _read(key, side, upload(lines_of(key, side), "sample.jsonl"))
    return {line.id: line for line in lines if not isinstance(line, ReadFault)}


def _grade(key: str, side: Side, usable: dict[str, Payload]) -> None:
    other: Side = "predictions" if side == "gold" else "gold"
    known = {item: line.payload for item, line in _sample(key, other).items()}
    gold, predictions = (usable, known) if side == "gold" else (known, usable)
    results = (
        _scored(key, json.dumps(payload), json.dumps(predictions.get(item)))
        for item, payload in gold.items()
    )
    assert _summed_up(key, tuple(results)) == len(gold)


@lru_cache(maxsize=500)
def _scored(key: str, gold: str, prediction: str) -> str:
    """Return the item's result as JSON that every database can store; equal pairs are scored
    once."""
    result = BENCHMARKS[key].score_item(json.loads(gold), json.loads(prediction), _options(key))
    text = json.dumps(result, ensure_ascii=False, allow_nan=False)
    text.encode("utf-8")
    assert not holds_nul(result)
    return text


@lru_cache(maxsize=500)
def _summed_up(key: str, results: tuple[str, ...]) -> int:
    """Check the figures of the items, and return the number of items."""
    scores = BENCHMARKS[key].aggregate(map(json.loads, results), _options(key))
    figures = [*scores.scores.values(), *(v for p in scores.subsets.values() for v in p.values())]
    assert all(value is None or math.isfinite(value) for value in figures)
    json.dumps(asdict(scores), allow_nan=False).encode("utf-8")
    return scores.items
