"""Whole benchmarks at their published sizes, read, joined, scored and summed up as `grade` does."""

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.generated import (
    Lines,
    ccocr_lines,
    fcmbench_lines,
    fincriticaled_lines,
    receiptbench_lines,
    write_lines,
)
from scoring.benchmarks import BENCHMARKS, Benchmark
from scoring.benchmarks.parallel import cores, score_items
from scoring.benchmarks.streaming import JoinedItems

# The benchmark, its lines, how many there are, and the seconds that all may take.
SIZES: tuple[tuple[str, Callable[[int], Lines], int, float], ...] = (
    ("fincriticaled", fincriticaled_lines, 859, 10),
    ("fcmbench", fcmbench_lines, 13_806, 5),
    ("ccocr", ccocr_lines, 7_058, 60),
    ("receiptbench", receiptbench_lines, 2_000, 10),
)


@dataclass(frozen=True)
class Whole:
    """Seconds for all items and for half of them."""

    title: str
    items: int
    seconds: float
    half: float
    wanted: float


def wholes() -> Iterator[Whole]:
    for key, lines, number, wanted in SIZES:
        if key in BENCHMARKS:
            benchmark = BENCHMARKS[key]
            half = seconds_of(benchmark, lines, number // 2)
            yield Whole(benchmark.title, number, seconds_of(benchmark, lines, number), half, wanted)


def seconds_of(benchmark: Benchmark, lines: Callable[[int], Lines], number: int) -> float:
    """Seconds to grade this many generated items; raises ValueError unless all were scored."""
    options = benchmark.check_options({})
    with tempfile.TemporaryDirectory() as folder:
        gold, submission = Path(folder, "gold.jsonl"), Path(folder, "submission.jsonl")
        write_lines(lines(number), gold, submission)
        begun = time.perf_counter()
        with JoinedItems() as items:
            faults = items.add_gold(benchmark.read_gold(gold, options=options)).listed
            faults += items.add_predictions(benchmark.read_predictions(submission)).listed
            if faults:
                raise ValueError(f"the data made for {benchmark.key} is wrong: {faults[0]}")
            results = score_items(items, benchmark.score_item, options, cores())
            scores = benchmark.aggregate(results, options)
        if scores.items != number:
            raise ValueError(f"{scores.items} of {number} items of {benchmark.key} were scored")
        return time.perf_counter() - begun
