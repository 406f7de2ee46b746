"""`python -m bench [--write FILE]`: prints the tables, and keeps them as a page."""

import argparse
import platform
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.references import comparisons
from bench.wholes import wholes
from scoring.benchmarks.parallel import cores


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep the tables as Markdown")
    chosen = parser.parse_args(arguments)
    lines = []
    for line in page():
        lines.append(line)
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    if chosen.write:
        chosen.write.write_text("\n".join(lines) + "\n", encoding="utf-8")


def page() -> Iterator[str]:
    today = datetime.now(UTC).date()
    yield "# Benchmark figures"
    yield ""
    yield f"Made by `make bench` on {today}: {_machine()}."
    yield ""
    yield "## Beside the reference packages"
    yield ""
    yield "Both sides score the same generated inputs in the same run. Ours is the best of three"
    yield "runs after one that warms the caches. The gap is the largest difference of a figure."
    yield ""
    yield "| metric | reference | ours | theirs | times faster | at least | gap |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for row in comparisons():
        yield (
            f"| {row.name} | {row.reference} | {row.ours * 1000:,.2f} ms "
            f"| {row.theirs * 1000:,.1f} ms | {row.ratio:,.1f} | {row.wanted:g} | {row.gap:.0e} |"
        )
    yield ""
    yield "## Whole benchmarks"
    yield ""
    yield f"Generated data of the published sizes on {cores()} cores: read from JSON Lines, joined,"
    yield "scored and summed up. Twice the items should take about twice the time."
    yield ""
    yield "| benchmark | items | seconds | at most | half of them | times as long |"
    yield "|---|---:|---:|---:|---:|---:|"
    for whole in wholes():
        yield (
            f"| {whole.title} | {whole.items:,} | {whole.seconds:.2f} | {whole.wanted:g} "
            f"| {whole.half:.2f} | {whole.seconds / whole.half:.2f} |"
        )


def _machine() -> str:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{model}, {cores()} cores, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
