"""The sample submissions: real output of tesseract for the page images, with model cards."""

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from sample.generator.build import json_line
from sample.generator.images import DPI
from sample.generator.ocr_layout import layout_html, plain_html, read_tsv

ENGINE = "tesseract"
LANGUAGE = "eng"
LINK = "https://github.com/tesseract-ocr/tesseract"
TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Run:
    """One way of running the engine; `shrink` divides the resolution of the images."""

    key: str
    name: str
    shrink: int
    psm: int
    output: str
    notes: str

    @property
    def dpi(self) -> int:
        return DPI // self.shrink

    def arguments(self) -> list[str]:
        options = ["--dpi", str(self.dpi), "--psm", str(self.psm), "-l", LANGUAGE]
        return [*options, self.output]


LAYOUT = (
    "Word boxes became lines, and lines with wide gaps rows of tables; the words are unaltered."
)
RUNS = (
    Run("tesseract", "Tesseract 5, layout", 1, 3, "tsv", LAYOUT),
    Run("tesseract_72dpi", "Tesseract 5, layout, 72 dpi", 2, 3, "tsv", LAYOUT),
    Run(
        "tesseract_column",
        "Tesseract 5, one column",
        1,
        4,
        "txt",
        "The page as one column of plain text, its rows kept together.",
    ),
    Run(
        "tesseract_text",
        "Tesseract 5, plain text",
        1,
        6,
        "txt",
        "The page as one block of plain text, without tables.",
    ),
)


def run_all(images: Sequence[Path], folder: Path) -> list[Path]:
    """Write `folder/KEY.jsonl` (predictions) and `folder/KEY.json` (model card) of every run.

    Raises FileNotFoundError without the engine and CalledProcessError when it fails on an image.
    """
    folder.mkdir(parents=True, exist_ok=True)
    version, read = engine_version(), images_digest(images)
    written = []
    for run in RUNS:
        lines = [json_line({"id": image.stem, "html": predict(run, image)}) for image in images]
        predictions, card = folder / f"{run.key}.jsonl", folder / f"{run.key}.json"
        predictions.write_text("".join(lines), encoding="utf-8", newline="\n")
        text = json.dumps(model_card(run, version, read), indent=2, ensure_ascii=False) + "\n"
        card.write_text(text, encoding="utf-8", newline="\n")
        written += [predictions, card]
    return written


def images_digest(images: Sequence[Path]) -> str:
    """One hash over all page images that were read, in order."""
    digest = hashlib.sha256()
    for image in images:
        digest.update(image.read_bytes())
    return digest.hexdigest()


def predict(run: Run, image: Path) -> str:
    """The HTML that the run makes of one page image."""
    with TemporaryDirectory() as scratch:
        source = image if run.shrink == 1 else shrunk(image, run.dpi, Path(scratch))
        output = call_engine([str(source), "stdout", *run.arguments()])
    return layout_html(read_tsv(output)) if run.output == "tsv" else plain_html(output)


def shrunk(image: Path, dpi: int, folder: Path) -> Path:
    """The image at a lower resolution, as a file in `folder`."""
    with Image.open(image) as original:
        grey = original.convert("L")
    size = grey.width * dpi // DPI, grey.height * dpi // DPI
    target = folder / f"{image.stem}.png"
    grey.resize(size, Image.Resampling.LANCZOS).save(target)
    return target


def call_engine(arguments: Sequence[str]) -> str:
    """Standard output of the engine, on one thread for reproducible runs."""
    done = subprocess.run(  # noqa: S603 - our own arguments, no shell
        [ENGINE, *arguments],
        capture_output=True,
        check=True,
        encoding="utf-8",
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        timeout=TIMEOUT_SECONDS,
    )
    return done.stdout


def engine_version() -> str:
    """First line of `tesseract --version`, for example `tesseract 5.3.0`."""
    return call_engine(["--version"]).splitlines()[0]


def model_card(run: Run, version: str, read: str) -> dict[str, str | int]:
    command = " ".join([ENGINE, "IMAGE", "stdout", *run.arguments()])
    made = f"Real output of {version} on the sample's page images at {run.dpi} dpi: {command}."
    return {
        "sample": True,
        "name": run.name,
        "organisation": "Tesseract OCR (open source)",
        "size": "",
        "category": "ocr_pipeline",
        "link": LINK,
        "engine": version,
        "command": command,
        "image_dpi": run.dpi,
        "images_sha256": read,
        "notes": f"{made} {run.notes}",
    }
