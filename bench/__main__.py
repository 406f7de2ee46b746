"""`python -m bench [PART …] [--write FILE]`: prints the tables, and keeps them as a page.

Without parts everything is measured. A page is written only on request and only of everything.
"""

import argparse
import platform
import sys
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.agreement import agreement_table
from bench.documents import documents_table
from bench.imports import import_table
from bench.leaderboards import leaderboards_table
from bench.references import COMPARISONS
from bench.submitting import submitting_table
from bench.wholes import LINEAR, SIZES, Whole, measure
from bench.workbench import workbench_table
from bench.workers import workers_table
from scoring.benchmarks.parallel import cores

AGREEMENT = "agreement"
WORKBENCH = "workbench"
WORKERS = "workers"
IMPORTS = "imports"
DOCUMENTS = "documents"
SUBMITTING = "submitting"
LEADERBOARDS = "leaderboards"
PARTS = (
    *COMPARISONS,
    *SIZES,
    AGREEMENT,
    WORKBENCH,
    WORKERS,
    IMPORTS,
    DOCUMENTS,
    SUBMITTING,
    LEADERBOARDS,
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", type=_part, metavar="PART", help=f"of {', '.join(PARTS)}"
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep the tables as Markdown")
    chosen = parser.parse_args(arguments)
    if chosen.write and chosen.parts:
        parser.error("--write keeps a page of all parts; name none")
    lines = []
    for line in page(chosen.parts or PARTS):
        lines.append(line)
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    if chosen.write:
        chosen.write.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _part(name: str) -> str:
    if name not in PARTS:
        raise argparse.ArgumentTypeError(f"there is no part {name!r}; there are {', '.join(PARTS)}")
    return name


def page(parts: Collection[str]) -> Iterator[str]:
    """The lines of the page with these parts, each as soon as it is measured."""
    today = datetime.now(UTC).date()
    yield "# Benchmark figures"
    yield ""
    yield f"Made by `make bench` on {today}: {_machine()}."
    references = [part for part in COMPARISONS if part in parts]
    if references:
        yield from _reference_table(references)
    wholes = [part for part in SIZES if part in parts]
    if wholes:
        yield from _whole_tables(wholes)
    if AGREEMENT in parts:
        yield from agreement_table()
    if WORKBENCH in parts:
        yield from workbench_table()
    if WORKERS in parts:
        yield from workers_table()
    if IMPORTS in parts:
        yield from import_table()
    if DOCUMENTS in parts:
        yield from documents_table()
    if SUBMITTING in parts:
        yield from submitting_table()
    if LEADERBOARDS in parts:
        yield from leaderboards_table()


def _reference_table(parts: Sequence[str]) -> Iterator[str]:
    yield ""
    yield "## Beside the reference packages"
    yield ""
    yield "Both sides score the same generated inputs in the same run. Ours is the best of three"
    yield "runs after one that warms the caches. The gap is the largest difference of a figure."
    yield ""
    yield "| metric | reference | ours | theirs | times faster | at least | met | gap |"
    yield "|---|---|---:|---:|---:|---:|---|---:|"
    for part in parts:
        for row in COMPARISONS[part]():
            yield (
                f"| {row.name} | {row.reference} | {row.ours * 1000:,.2f} ms "
                f"| {row.theirs * 1000:,.1f} ms | {row.ratio:,.1f} | {row.wanted:g} "
                f"| {_yes(is_so=row.is_met)} | {row.gap:.0e} |"
            )


def _whole_tables(parts: Sequence[str]) -> Iterator[str]:
    yield ""
    yield "## Whole benchmarks"
    yield ""
    yield f"Generated data of the published sizes on {cores()} cores: read from JSON Lines, joined,"
    yield "scored and summed up."
    yield ""
    yield "| benchmark | items | seconds | at most | met |"
    yield "|---|---:|---:|---:|---|"
    measured: list[Whole] = []
    for part in parts:
        measured.append(whole := measure(part))
        yield (
            f"| {whole.title} | {whole.items:,} | {whole.seconds:.2f} | {whole.wanted:g} "
            f"| {_yes(is_so=whole.is_met)} |"
        )
    yield from _growth_table(measured)


def _growth_table(measured: Sequence[Whole]) -> Iterator[str]:
    yield ""
    yield "## Growth"
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


def _machine() -> str:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{model}, {cores()} cores, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
