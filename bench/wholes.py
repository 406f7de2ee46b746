"""Whole benchmarks at their published sizes, read, joined, scored and summed up as `grade` does."""

import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bench.generated import (
    Lines,
    ccocr_lines,
    fcmbench_lines,
    fincriticaled_lines,
    receiptbench_lines,
    write_lines,
)
from scoring.benchmarks import BENCHMARKS, Benchmark
from scoring.benchmarks.checking import JoinedItems, cores, score_items


class Size(NamedTuple):
    """A benchmark's lines, how many items it has, and the seconds that all may take."""

    lines: Callable[[int], Lines]
    items: int
    wanted: float


SIZES: dict[str, Size] = {
    "fincriticaled": Size(fincriticaled_lines, 859, 10),
    "fcmbench": Size(fcmbench_lines, 13_806, 5),
    "ccocr": Size(ccocr_lines, 7_058, 60),
    "receiptbench": Size(receiptbench_lines, 2_000, 10),
}
# Twice the items take twice as long, give or take what a machine does besides.
LINEAR = 2.2


@dataclass(frozen=True)
class Whole:
    """Seconds for all items, for half of them, and for a quarter."""

    title: str
    items: int
    seconds: float
    half: float
    quarter: float
    wanted: float

    @property
    def is_met(self) -> bool:
        return self.seconds <= self.wanted

    @property
    def growth(self) -> tuple[float, float]:
        """How many times longer a half takes than a quarter, and all than a half."""
        return self.half / self.quarter, self.seconds / self.half

    @property
    def is_linear(self) -> bool:
        return max(self.growth) <= LINEAR


def measure(key: str) -> Whole:
    """The seconds that this benchmark takes at its published size."""
    benchmark, size = BENCHMARKS[key], SIZES[key]
    seconds_of(benchmark, size.lines, 1)  # Loads what a worker has loaded.
    quarter, half, seconds = (
        seconds_of(benchmark, size.lines, size.items // part) for part in (4, 2, 1)
    )
    return Whole(benchmark.title, size.items, seconds, half, quarter, size.wanted)


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


def wholes_table(parts: Collection[str]) -> Iterator[str]:
    """The lines of both tables with these of the benchmarks."""
    yield f"Generated data of the published sizes on {cores()} cores: read from JSON Lines, joined,"
    yield "scored and summed up."
    yield ""
    yield "| benchmark | items | seconds | at most | met |"
    yield "|---|---:|---:|---:|---|"
    measured: list[Whole] = []
    for part in SIZES:
        if part not in parts:
            continue
        measured.append(whole := measure(part))
        yield (
            f"| {whole.title} | {whole.items:,} | {whole.seconds:.2f} | {whole.wanted:g} "
            f"| {_yes(is_so=whole.is_met)} |"
        )
    yield from _growth_table(measured)


def _growth_table(measured: Sequence[Whole]) -> Iterator[str]:
    yield ""
    yield "### Growth"
    yield ""
    yield f"Twice the items should take about twice the time: linear is up to {LINEAR:g} times."
    yield ""
    yield "| benchmark | a quarter | half | all | half / quarter | all / half | linear |"
    yield "|---|---:|---:|---:|---:|---:|---|"
    for whole in measured:
        first, second = whole.growth
        yield (
            f"| {whole.title} | {whole.quarter:.2f} s | {whole.half:.2f} s | {whole.seconds:.2f} s "
            f"| {first:.2f} | {second:.2f} | {_yes(is_so=whole.is_linear)} |"
        )


def _yes(*, is_so: bool) -> str:
    return "yes" if is_so else "**no**"
