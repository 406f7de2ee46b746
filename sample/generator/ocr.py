"""The sample submissions: real output of four OCR engines for the page images, with model cards."""

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image

from factboard.ocr import Box, boxes_html, layout_html, plain_html, read_tsv
from sample.generator.build import json_line
from sample.generator.images import DPI

ENGINE = "tesseract"
LANGUAGE = "eng"
LINK = "https://github.com/tesseract-ocr/tesseract"
TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Engine:
    name: str
    """Its program, or its Python package."""
    organisation: str
    link: str


TESSERACT = Engine(ENGINE, "Tesseract OCR", LINK)
RAPIDOCR = Engine("rapidocr-onnxruntime", "RapidAI", "https://github.com/RapidAI/RapidOCR")
GOCR = Engine("gocr", "Jörg Schulenburg", "https://jocr.sourceforge.net/")
OCRAD = Engine("ocrad", "GNU Project", "https://www.gnu.org/software/ocrad/")


@dataclass(frozen=True)
class Run:
    """One way of running an engine; `shrink` divides the resolution of the images.

    `command` has the word IMAGE for the image. `output` is `tsv`, `txt`, or `boxes` for an engine
    that is called in this process.
    """

    key: str
    name: str
    command: str
    output: str
    notes: str
    engine: Engine = TESSERACT
    shrink: int = 1

    @property
    def dpi(self) -> int:
        return DPI // self.shrink


LAYOUT = (
    "Word boxes were grouped into lines, and lines with wide gaps into table rows; text unchanged."
)
RUNS = (
    Run(
        "tesseract",
        "Tesseract 5, layout",
        f"{ENGINE} IMAGE stdout --dpi {DPI} --psm 3 -l {LANGUAGE} tsv",
        "tsv",
        LAYOUT,
    ),
    Run(
        "tesseract_72dpi",
        "Tesseract 5, layout, 72 dpi",
        f"{ENGINE} IMAGE stdout --dpi {DPI // 2} --psm 3 -l {LANGUAGE} tsv",
        "tsv",
        LAYOUT,
        shrink=2,
    ),
    Run(
        "tesseract_column",
        "Tesseract 5, one column",
        f"{ENGINE} IMAGE stdout --dpi {DPI} --psm 4 -l {LANGUAGE} txt",
        "txt",
        "Plain text in one column, rows kept together.",
    ),
    Run(
        "tesseract_text",
        "Tesseract 5, plain text",
        f"{ENGINE} IMAGE stdout --dpi {DPI} --psm 6 -l {LANGUAGE} txt",
        "txt",
        "Plain text in one block, without tables.",
    ),
    Run(
        "gocr",
        "GOCR",
        "gocr -i IMAGE",
        "txt",
        "Plain text. Underscores are unrecognised characters.",
        engine=GOCR,
    ),
    Run(
        "ocrad",
        "GNU Ocrad",
        "ocrad --format=utf8 --scale=2 IMAGE",
        "txt",
        "Plain text from enlarged images (the engine needs characters of 20 pixels). Underscores "
        "are unrecognised characters.",
        engine=OCRAD,
    ),
    Run(
        "rapidocr",
        "RapidOCR (PP-OCRv4)",
        "RapidOCR()(IMAGE)",
        "boxes",
        "Text boxes were grouped into rows, and rows of several boxes into tables; text unchanged.",
        engine=RAPIDOCR,
    ),
)


def run_all(images: Sequence[Path], folder: Path) -> list[Path]:
    """Write `folder/KEY.jsonl` (predictions) and `folder/KEY.json` (model card) of every run.

    Raises FileNotFoundError without an engine, ModuleNotFoundError without RapidOCR, and
    CalledProcessError when an engine fails on an image.
    """
    folder.mkdir(parents=True, exist_ok=True)
    read = images_digest(images)
    written = []
    for run in RUNS:
        lines = [json_line({"id": image.stem, "html": predict(run, image)}) for image in images]
        predictions, card = folder / f"{run.key}.jsonl", folder / f"{run.key}.json"
        predictions.write_text("".join(lines), encoding="utf-8", newline="\n")
        text = json.dumps(model_card(run, read), indent=2, ensure_ascii=False) + "\n"
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
    if run.output == "boxes":
        return boxes_html(boxes_of(image))
    with TemporaryDirectory() as scratch:
        source = image
        if run.engine != TESSERACT:
            source = shrunk(image, run.dpi, Path(scratch), ".pgm")
        elif run.shrink > 1:
            source = shrunk(image, run.dpi, Path(scratch))
        program, *arguments = run.command.split()
        filled = [str(source) if each == "IMAGE" else each for each in arguments]
        output = call_engine(filled, program)
    return layout_html(read_tsv(output)) if run.output == "tsv" else plain_html(output)


def shrunk(image: Path, dpi: int, folder: Path, suffix: str = ".png") -> Path:
    """The image in grey at the same or a lower resolution, as a file in `folder`."""
    with Image.open(image) as original:
        grey = original.convert("L")
    size = grey.width * dpi // DPI, grey.height * dpi // DPI
    target = folder / f"{image.stem}{suffix}"
    grey.resize(size, Image.Resampling.LANCZOS).save(target)
    return target


def call_engine(arguments: Sequence[str], program: str = ENGINE) -> str:
    """Standard output of the engine, on one thread for reproducible runs."""
    done = subprocess.run(  # noqa: S603 - our own arguments, no shell
        [program, *arguments],
        capture_output=True,
        check=True,
        encoding="utf-8",
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        timeout=TIMEOUT_SECONDS,
    )
    return done.stdout


@cache
def _rapidocr() -> Any:
    # Only `make sample` installs it.
    from rapidocr_onnxruntime import RapidOCR

    return RapidOCR()


def boxes_of(image: Path) -> list[Box]:
    """The text boxes that RapidOCR finds on the page. It misreads images with a palette."""
    with Image.open(image) as original:
        pixels = np.asarray(original.convert("RGB"))
    found, _ = _rapidocr()(pixels)
    return [
        Box(
            left=min(x for x, _ in corners),
            top=min(y for _, y in corners),
            bottom=max(y for _, y in corners),
            text=text,
        )
        for corners, text, _ in found or []
    ]


def engine_version(engine: Engine = TESSERACT) -> str:
    """Name and version, for example `tesseract 5.3.0`."""
    if engine == RAPIDOCR:
        return f"{engine.name} {metadata.version(engine.name)}"
    version = call_engine(["--version"], engine.name).splitlines()[0]
    return version if engine.name in version else f"{engine.name} {version}"


def model_card(run: Run, read: str) -> dict[str, str | int | bool]:
    """The model card of a run of today; `read` is the hash of the images."""
    version, today = engine_version(run.engine), datetime.now(UTC).date().isoformat()
    return {
        "sample": True,
        "name": run.name,
        "organisation": run.engine.organisation,
        "size": "",
        "category": "ocr_pipeline",
        "link": run.engine.link,
        "engine": version,
        "command": run.command,
        "made_on": today,
        "image_dpi": run.dpi,
        "images_sha256": read,
        "notes": f"Output of {version} at {run.dpi} dpi ({today}): {run.command}. {run.notes}",
    }
