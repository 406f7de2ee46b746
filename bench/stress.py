"""`python -m bench.stress [--write FILE]`: how much an OCR engine still reads under each capture.

One sample page of each document type goes through every kind of capture at several strengths; the
engine reads the result, and the benchmark's own scorer says which share of the gold facts it found.
"""

import argparse
import functools
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from portal.datasets.variants.captures import CAPTURES, VERSION, Capture, simulate
from sample.generator.ocr import RUNS, engine_version, predict
from scoring.benchmarks import BENCHMARKS
from scoring.benchmarks.checking import cores

DATA = Path(__file__).resolve().parent.parent / "sample" / "data"
PAGES = ("sample-fl-01", "sample-fs-01", "sample-sr-01", "sample-st-01", "sample-tf-01")
STRENGTHS = (0.25, 0.5, 0.75, 1.0)
SEED = 7
# More facts read at more strength, by up to so much, is chance and no fault of the simulation.
CHANCE = 0.02
_BENCHMARK = BENCHMARKS["fincriticaled"]
_OPTIONS = _BENCHMARK.check_options({})


@dataclass(frozen=True)
class Line:
    """Shares of facts read, in [0, 1], of one kind: one for each strength, or one in all."""

    capture: Capture
    shares: tuple[float, ...]

    @property
    def is_falling(self) -> bool:
        """Whether no step makes it better, beyond chance, and the last is worse than the first."""
        steps = zip(self.shares, self.shares[1:], strict=False)
        return all(b <= a + CHANCE for a, b in steps) and self.shares[-1] < self.shares[0]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench.stress", description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="keep the table as Markdown")
    chosen = parser.parse_args(arguments)
    lines = []
    for line in table():
        lines.append(line)
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    if chosen.write:
        chosen.write.write_text("\n".join(lines) + "\n", encoding="utf-8")


def table() -> Iterator[str]:
    """The lines of the page, each as soon as it is measured."""
    gold = gold_lines(PAGES)
    pictures = {name: _open(name) for name in PAGES}
    yield "# What an OCR engine reads under simulated captures"
    yield ""
    yield f"Made by `python -m bench.stress` on {datetime.now(UTC).date()} with {engine_version()}:"
    yield f"{len(PAGES)} sample pages, seed {SEED}, captures of version {VERSION}. Each figure is"
    yield "the share of the pages' gold facts that the engine got right, by the benchmark's own"
    yield f"scorer (`{_BENCHMARK.signature(_OPTIONS)}`)."
    yield ""
    plain = share_read(gold, pictures)
    yield f"Without any capture: **{plain:.1%}**."
    yield ""
    yield f"| capture | {' | '.join(f'strength {strength:g}' for strength in STRENGTHS)} | falls |"
    yield f"|---|{'---:|' * len(STRENGTHS)}---|"
    for capture in CAPTURES.values():
        if capture.has_strength:
            line = measure(capture, gold, pictures, STRENGTHS)
            shares = " | ".join(f"{share:.1%}" for share in line.shares)
            yield f"| {capture.title} | {shares} | {'yes' if line.is_falling else '**no**'} |"
    yield ""
    yield "Rotations have no strength:"
    yield ""
    yield "| capture | facts read |"
    yield "|---|---:|"
    for capture in CAPTURES.values():
        if not capture.has_strength:
            line = measure(capture, gold, pictures, (1.0,))
            yield f"| {capture.title} | {line.shares[0]:.1%} |"


def gold_lines(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The gold of the pages, by id, as the benchmark reads it."""
    lines = {}
    for name in names:
        lines[name] = {"id": name, "html": (DATA / "gold" / f"{name}.html").read_text("utf-8")}
    return lines


def measure(
    capture: Capture,
    gold: Mapping[str, dict[str, Any]],
    pictures: Mapping[str, Image.Image],
    strengths: Iterable[float],
) -> Line:
    """The same seed at every strength, so that only the strength differs."""
    names = list(pictures)
    shares = []
    for strength in strengths:
        captured = {}
        for number, name in enumerate(names):
            others = [pictures[names[(number + step) % len(names)]] for step in (1, 2, 3)]
            picture, _ = simulate(
                pictures[name], capture.key, strength=strength, seed=SEED + number, others=others
            )
            captured[name] = picture
        shares.append(share_read(gold, captured))
    return Line(capture, tuple(shares))


def share_read(gold: Mapping[str, dict[str, Any]], pictures: Mapping[str, Image.Image]) -> float:
    """The share of all facts of the pages that the engine gets right, in [0, 1]."""
    with TemporaryDirectory() as folder, ThreadPoolExecutor(cores()) as pool:
        read = functools.partial(_read, Path(folder))
        predictions = dict(zip(pictures, pool.map(read, pictures.items()), strict=True))
    results = [
        _BENCHMARK.score_item(gold[name], {"id": name, "html": html}, _OPTIONS)
        for name, html in predictions.items()
    ]
    share = _BENCHMARK.aggregate(results, _OPTIONS).scores["ffa"]
    assert share is not None
    return share


def _read(folder: Path, named: tuple[str, Image.Image]) -> str:
    """The HTML the engine makes of a picture; nothing where it finds no page in it."""
    name, picture = named
    path = folder / f"{name}.png"
    picture.save(path, compress_level=1)
    try:
        return predict(RUNS[0], path)
    except (subprocess.CalledProcessError, ValueError):
        return ""


def _open(name: str) -> Image.Image:
    with Image.open(DATA / "images" / f"{name}.png") as image:
        return image.convert("RGB")


if __name__ == "__main__":
    main()
