"""`python -m bench [PART …] [--write FILE]`: prints the tables, and keeps them in a page.

Without parts everything is measured. `--mark FILE` measures nothing: it marks the sections of the
page that are older than the code they are about; with `--check` it only says whether marks are due.
"""

import argparse
import platform
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bench.agreement import agreement_table
from bench.documents import documents_table
from bench.imports import import_table
from bench.label_studio import find_label_studio
from bench.leaderboards import leaderboards_table
from bench.references import COMPARISONS, references_table
from bench.running import running_table
from bench.sections import Section, marked, replaced
from bench.submitting import submitting_table
from bench.wholes import SIZES, wholes_table
from bench.workbench import workbench_table
from bench.workers import workers_table
from scoring.benchmarks.checking import cores

TITLE = "# Performance\n"
METRICS = ("scoring/metrics", "portal/facts")
GRADING = ("scoring", "portal/jobs", "portal/settings.py")
SITE = ("portal", "annotation", "scoring", "templates", "static/js")
DATASETS = ("portal/datasets", "portal/facts", "portal/settings.py")


def sections(label_studio: Path | None = None) -> list[Section]:
    """The sections of the page; the workbench is compared with Label Studio if it is installed."""
    workbench = partial(workbench_table, label_studio)
    return [
        Section("Compared with the reference packages", COMPARISONS, references_table, METRICS),
        Section("Whole benchmarks", SIZES, wholes_table, (*METRICS, "scoring/benchmarks")),
        _single("Agreement", "agreement", agreement_table, METRICS),
        Section("Annotation workbench", ["workbench"], lambda _: workbench(), SITE),
        _single("Imports", "imports", import_table, DATASETS),
        _single("Document table", "documents", documents_table, DATASETS),
        _single("Two workers on one submission", "workers", workers_table, GRADING),
        _single("Submitting", "submitting", submitting_table, GRADING),
        _single("Leaderboard", "leaderboards", leaderboards_table, GRADING),
        _single("Running a model", "running", running_table, ("factboard", "scoring/judge")),
    ]


def _single(
    title: str, part: str, table: Callable[[], Iterable[str]], code: Collection[str]
) -> Section:
    return Section(title, [part], lambda _: table(), code)


PARTS = tuple(part for section in sections() for part in section.parts)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", type=_part, metavar="PART", help=f"of {', '.join(PARTS)}"
    )
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="put the measured sections into this page"
    )
    parser.add_argument(
        "--label-studio", type=find_label_studio, metavar="DIR", help="its virtual environment"
    )
    parser.add_argument("--mark", type=Path, metavar="FILE", help="mark the outdated sections")
    parser.add_argument("--check", action="store_true", help="with --mark: write nothing")
    chosen = parser.parse_args(arguments)
    if chosen.mark:
        _mark(chosen.mark, is_check=chosen.check)
        return
    _measure(parser, chosen)


def _part(name: str) -> str:
    if name not in PARTS:
        raise argparse.ArgumentTypeError(f"there is no part {name!r}; there are {', '.join(PARTS)}")
    return name


def _mark(path: Path, *, is_check: bool) -> None:
    page = path.read_text(encoding="utf-8")
    if (now := marked(page, sections())) == page:
        return
    if is_check:
        sys.exit(
            f"{path}: some figures are older than their code and not marked: run `make format`"
        )
    path.write_text(now, encoding="utf-8")


def _measure(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    parts = chosen.parts or PARTS
    wanted = [one for one in sections(chosen.label_studio) if set(one.parts) & set(parts)]
    if chosen.write:
        for section in wanted:
            if missing := set(section.parts) - set(parts):
                parser.error(
                    f"--write keeps whole sections; name {', '.join(sorted(missing))}, too"
                )
    for section in wanted:
        lines = _printed(section, parts)
        if chosen.write:
            page = chosen.write.read_text(encoding="utf-8") if chosen.write.exists() else TITLE
            chosen.write.write_text(replaced(page, section.title, lines), encoding="utf-8")


def _printed(section: Section, parts: Collection[str]) -> list[str]:
    today = datetime.now(UTC).date().isoformat()
    lines = []
    for line in section.lines(parts, day=today, machine=_machine()):
        lines.append(line)
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    return lines


def _machine() -> str:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{model}, {cores()} cores, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
