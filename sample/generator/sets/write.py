"""Writes the sample sets: reproducible text files, images and submissions."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from factboard.ocr import layout_html, read_tsv
from portal.datasets.variants.captures import simulate
from sample.generator.images import DPI, chromium_tab, save_grey
from sample.generator.ocr import ENGINE, LINK, call_engine, engine_version, shrunk

from .accounts import accounts_set
from .base import Line, Picture, Question, Reading, SampleSet, json_lines
from .certificates import certificate_set
from .reading import reading_set
from .receipts import receipt_set

STRENGTH, SEED = 0.5, 7
JPEG_QUALITY = 55


@dataclass(frozen=True)
class Reader:
    """An OCR engine on the images, with their resolution reduced to `dpi`."""

    key: str
    name: str
    dpi: int

    @property
    def arguments(self) -> list[str]:
        # 6: the picture as one block of lines.
        return ["--dpi", str(self.dpi), "--psm", "6", "-l", "eng", "tsv"]


@dataclass(frozen=True)
class Simulated:
    """A simulated reader: the gold with `errors` in a thousand words read wrongly."""

    key: str
    name: str
    errors: int


READERS = (
    Reader("tesseract", "Tesseract 5 + rules", DPI),
    Reader("tesseract_72dpi", "Tesseract 5 + rules, 72 dpi", 72),
)
# If the text alone is the answer, no simulation is needed.
PLAIN_READERS = (
    Reader("tesseract", "Tesseract 5", DPI),
    Reader("tesseract_96dpi", "Tesseract 5, 96 dpi", 96),
    Reader("tesseract_72dpi", "Tesseract 5, 72 dpi", 72),
)
SIMULATED = (
    Simulated("simulated_careful", "Simulated reader (4% errors)", 40),
    Simulated("simulated_hasty", "Simulated reader (22% errors)", 220),
)


def sample_sets() -> tuple[SampleSet, ...]:
    return certificate_set(), reading_set(), receipt_set(), accounts_set()


def readers_of(sample: SampleSet) -> tuple[Reader, ...]:
    return READERS if sample.simulate else PLAIN_READERS


def built(sample: SampleSet) -> Iterator[tuple[str, str]]:
    """Every text file of a set that needs no browser and no engine, as (path, content)."""
    yield from sample.beside.items()
    for name, text in sample.source.items():
        yield f"source/{name}", text
    for split in sample.splits:
        lines = [question.gold for question in sample.of_split(split)]
        yield f"gold/{split}.jsonl", json_lines(lines)
    if sample.simulate is None:
        return
    for reader in SIMULATED:
        yield f"cards/{reader.key}.json", _json(simulated_card(reader))
        for split in sample.splits:
            questions = sample.of_split(split)
            lines = [sample.simulate(question, reader.errors, reader.key) for question in questions]
            yield f"submissions/{split}/{reader.key}.jsonl", json_lines(lines)


def write(sample: SampleSet) -> int:
    """Writes all generated text files of a set and returns their number."""
    files = dict(built(sample))
    for name, text in files.items():
        _write(sample.folder / name, text)
    return len(files)


def _write(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8", newline="\n")


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


# --- images ----------------------------------------------------------------------------------


def render(sample: SampleSet) -> int:
    """Renders all pictures of a set; those with a capture afterwards, from the clean ones."""
    pictures = sorted(sample.pictures, key=lambda picture: picture.width)
    clean: dict[str, Image.Image] = {}
    for width, group in groupby(pictures, key=lambda picture: picture.width):
        with TemporaryDirectory() as scratch, chromium_tab(width) as tab:
            for picture in group:
                page = Path(scratch) / "page.html"
                page.write_text(picture.html, encoding="utf-8")
                tab.goto(page.as_uri())
                target = sample.folder / picture.path
                target.parent.mkdir(parents=True, exist_ok=True)
                if not picture.capture:
                    save_grey(tab.screenshot(full_page=True), target, picture.digest)
                    continue
                tab.screenshot(full_page=True, path=Path(scratch) / "shot.png")
                with Image.open(Path(scratch) / "shot.png") as shot:
                    clean[picture.path] = shot.convert("RGB")
    for picture in sample.pictures:
        if picture.capture:
            _capture(picture, clean, sample.folder / picture.path)
    return len(pictures)


def _capture(picture: Picture, clean: dict[str, Image.Image], target: Path) -> None:
    """The image under a simulated capture, as in the stress variants."""
    others = [image for path, image in sorted(clean.items()) if path != picture.path][:2]
    captured, _ = simulate(
        clean[picture.path], picture.capture, strength=STRENGTH, seed=SEED, others=others
    )
    captured.convert("L").save(
        target, quality=JPEG_QUALITY, dpi=(DPI, DPI), comment=picture.digest, optimize=True
    )


# --- submissions -----------------------------------------------------------------------------


def read_all(sample: SampleSet) -> int:
    """Run the engine on every image and write the answers derived from its text."""
    version = engine_version()
    for reader in readers_of(sample):
        read = {
            picture.path: engine_tsv(reader, sample.folder / picture.path)
            for picture in sample.pictures
        }
        for split in sample.splits:
            lines = [_answer(sample, question, read) for question in sample.of_split(split)]
            _write(sample.folder / f"submissions/{split}/{reader.key}.jsonl", json_lines(lines))
        _write(sample.folder / f"cards/{reader.key}.json", _json(card(sample, reader, version)))
    return len(readers_of(sample))


def _answer(sample: SampleSet, question: Question, read: dict[str, str]) -> Line:
    pages = [read[picture.path] for picture in question.pictures]
    text = "\n".join(map(text_of, pages))
    return sample.read(question, Reading(text, "".join(map(html_of, pages))))


def engine_tsv(reader: Reader, image: Path) -> str:
    with TemporaryDirectory() as scratch:
        source = image if reader.dpi == DPI else shrunk(image, reader.dpi, Path(scratch))
        return call_engine([str(source), "stdout", *reader.arguments])


def text_of(tsv: str) -> str:
    """The words line by line."""
    lines = groupby(read_tsv(tsv), key=lambda word: (word.block, word.paragraph, word.line))
    return "\n".join(" ".join(word.text for word in words) for _, words in lines)


def html_of(tsv: str) -> str:
    """The first table of the engine's layout."""
    table = re.search("<table.*?</table>", layout_html(read_tsv(tsv)), re.DOTALL)
    return table[0] if table else ""


def card(sample: SampleSet, reader: Reader, version: str) -> dict[str, Any]:
    command = " ".join([ENGINE, "IMAGE", "stdout", *reader.arguments])
    return {
        "sample": True,
        "name": reader.name,
        "organisation": "Tesseract OCR",
        "size": "",
        "category": "ocr_pipeline",
        "link": LINK,
        "engine": version,
        "command": command,
        "notes": f"Output of {version} at {reader.dpi} dpi: {command}. {sample.how}",
    }


def simulated_card(reader: Simulated) -> dict[str, Any]:
    return {
        "sample": True,
        "name": reader.name,
        "organisation": "",
        "size": "",
        "category": "other",
        "link": "",
        "notes": f"Simulated: gold answers with random errors in about {reader.errors / 10:g}% of "
        "the words, for demonstration only.",
    }
