"""The engines `tesseract` and `rapidocr`: the text of each image, in the form that a benchmark
expects. They answer no questions: where a benchmark asks some, the answer is the text.

The layout of a page becomes simple HTML, without changing any words. Tesseract finds blocks,
paragraphs, lines and words. In addition, words of a line that are far apart are different cells,
and a block in which most lines have several cells is a table. RapidOCR finds boxes of text without
an order: boxes at one height are a row of cells.
"""

import csv
import io
import os
import re
import shutil
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module, metadata
from itertools import groupby, pairwise
from threading import Lock
from typing import Any

from PIL import Image

from portal.files.pixels import as_rgb
from scoring.answering.core import ImageSource, RunItem
from scoring.benchmarks.answers import form_of

from .programs import EngineFault, EngineMissing, LocalEngine

# --- layout -------------------------------------------------------------------------------------

CELL_GAP = 1.5  # in heights of the line's tallest word; word gaps of justified prose stay below
WORD_LEVEL = "5"

Cell = list[str]


@dataclass(frozen=True)
class Word:
    """A word of the engine's output with the engine's numbers of its block, paragraph and line."""

    block: int
    paragraph: int
    line: int
    left: int
    right: int
    height: int
    text: str


def read_tsv(tsv: str) -> list[Word]:
    """The words of tesseract's TSV output, blank ones (ruled lines) left out."""
    rows = csv.DictReader(tsv.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        Word(
            int(row["block_num"]),
            int(row["par_num"]),
            int(row["line_num"]),
            int(row["left"]),
            int(row["left"]) + int(row["width"]),
            int(row["height"]),
            row["text"],
        )
        for row in rows
        if row["level"] == WORD_LEVEL and row["text"].strip()
    ]


def cells_of(line: Sequence[Word]) -> list[Cell]:
    """The words of a line, cut where the gap is wide."""
    widest = CELL_GAP * max(word.height for word in line)
    cells = [[line[0].text]]
    for before, word in pairwise(line):
        if word.left - before.right > widest:
            cells.append([])
        cells[-1].append(word.text)
    return cells


def layout_html(words: Sequence[Word]) -> str:
    """A page: its blocks in the engine's order, each a table or paragraphs with line breaks."""
    return html_page(layout_body(words))


def layout_body(words: Sequence[Word]) -> str:
    blocks = (list(block) for _, block in groupby(words, key=lambda word: word.block))
    return "".join(block_html(block) for block in blocks)


def block_html(block: Sequence[Word]) -> str:
    lines = [
        (key[0], cells_of(list(line)))
        for key, line in groupby(block, key=lambda word: (word.paragraph, word.line))
    ]
    tabular = sum(len(cells) > 1 for _, cells in lines)
    if 2 * tabular >= len(lines):
        return table_html([cells for _, cells in lines])
    paragraphs = groupby(lines, key=lambda line: line[0])
    return "".join(paragraph_html([cells for _, cells in group]) for _, group in paragraphs)


def table_html(rows: Sequence[list[Cell]]) -> str:
    body = "".join(
        "<tr>" + "".join(f"<td>{text_of(cell)}</td>" for cell in row) + "</tr>\n" for row in rows
    )
    return f"<table>\n{body}</table>\n"


def paragraph_html(lines: Sequence[list[Cell]]) -> str:
    texts = [" ".join(text_of(cell) for cell in line) for line in lines]
    return "<p>" + "<br>\n".join(texts) + "</p>\n"


@dataclass(frozen=True)
class Box:
    """A box of text on the page, in pixels from the top left."""

    left: float
    top: float
    bottom: float
    text: str

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def boxes_html(boxes: Sequence[Box]) -> str:
    """A page: rows of several boxes are tables, the others lines of paragraphs."""
    return html_page(boxes_body(boxes))


def boxes_body(boxes: Sequence[Box]) -> str:
    rows = [[[box.text] for box in row] for row in rows_of(boxes)]
    parts = groupby(rows, key=lambda row: len(row) > 1)
    return "".join(
        table_html(list(part)) if is_table else paragraph_html(list(part))
        for is_table, part in parts
    )


def rows_of(boxes: Sequence[Box]) -> list[list[Box]]:
    """Boxes from top to bottom, and from left to right if the middle of a box is above the bottom
    of the first one of its row."""
    rows: list[list[Box]] = []
    for box in sorted(boxes, key=lambda box: box.middle):
        if rows and box.middle < rows[-1][0].bottom:
            rows[-1].append(box)
        else:
            rows.append([box])
    return [sorted(row, key=lambda box: box.left) for row in rows]


def text_of(words: Cell) -> str:
    return escape(" ".join(words), quote=False)


def plain_html(text: str) -> str:
    """Plain text as a page, line by line as the engine printed it."""
    return html_page(f"<pre>\n{escape(text, quote=False)}</pre>\n")


def html_page(body: str) -> str:
    return (
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body>\n{body}</body></html>\n'
    )


# --- engines ------------------------------------------------------------------------------------

TESSERACT = "tesseract"
_RAPIDOCR_PACKAGES = ("rapidocr_onnxruntime", "rapidocr-onnxruntime"), ("rapidocr", "rapidocr")


@dataclass(frozen=True)
class Page:
    """The text of one image: line by line, and as the body of an HTML page."""

    text: str
    body: str


class OcrEngine(LocalEngine):
    def __init__(self, benchmark: str) -> None:
        super().__init__()
        self._benchmark = benchmark

    @abstractmethod
    def page(self, image: ImageSource) -> Page:
        """Return the text of an image. Raises EngineFault and OSError."""

    def text(self, item: RunItem) -> str:
        pages = [self.page(image) for image in item.images]
        if form_of(self._benchmark, item.kind) != "html":
            return "\n".join(page.text for page in pages)
        whole = html_page("".join(page.body for page in pages))
        if item.kind == "table":
            # Such an item is one table; without any in the layout the text is the answer.
            table = re.search("<table.*?</table>", whole, re.DOTALL)
            return table[0] if table else "\n".join(page.text for page in pages)
        return whole


class Tesseract(OcrEngine):
    """Runs the program once per image, on one thread for reproducible runs."""

    def __init__(
        self, benchmark: str, *, language: str = "", psm: int = 3, dpi: int = 0, timeout: float
    ) -> None:
        super().__init__(benchmark)
        if shutil.which(TESSERACT) is None:
            raise EngineMissing(
                "tesseract is not installed; on Debian or Ubuntu: apt install tesseract-ocr"
            )
        self.decoding: dict[str, str | int] = {"psm": psm, "language": language or "eng"}
        if dpi:
            self.decoding["dpi"] = dpi
        self._arguments = ["--psm", str(psm), "-l", language or "eng"]
        self._dpi = ["--dpi", str(dpi)] if dpi else []
        self._timeout = timeout

    def version(self) -> str:
        return self._programs.output([TESSERACT, "--version"], timeout=30).splitlines()[0].strip()

    def page(self, image: ImageSource) -> Page:
        output = self._programs.output(
            [TESSERACT, "stdin", "stdout", *self._dpi, *self._arguments, "tsv"],
            stdin=image.read(),
            timeout=self._timeout,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
        words = read_tsv(output)
        lines = groupby(words, key=lambda word: (word.block, word.paragraph, word.line))
        text = "\n".join(" ".join(word.text for word in line) for _, line in lines)
        return Page(text, layout_body(words))


class RapidOcr(OcrEngine):
    """Runs in this process, one image at a time."""

    def __init__(self, benchmark: str) -> None:
        super().__init__(benchmark)
        self._engine, self._version = _rapidocr()
        self._lock = Lock()
        self.decoding: dict[str, str | int] = {}

    def version(self) -> str:
        return self._version

    def page(self, image: ImageSource) -> Page:
        import numpy as np

        try:
            with Image.open(io.BytesIO(image.read())) as original:
                # It misreads images with a palette.
                pixels = np.asarray(as_rgb(original))
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise EngineFault(f"{image.name}: cannot be read as an image") from error
        with self._lock:
            boxes = _boxes(self._engine(pixels))
        text = "\n".join(" ".join(box.text for box in row) for row in rows_of(boxes))
        return Page(text, boxes_body(boxes))

    def close(self) -> None:
        """Waits for the image under way: Python that ends inside the library is aborted."""
        super().close()
        with self._lock:
            return


def _rapidocr() -> tuple[Any, str]:
    for module, package in _RAPIDOCR_PACKAGES:
        try:
            return import_module(module).RapidOCR(), f"{package} {metadata.version(package)}"
        except ImportError:
            continue
    raise EngineMissing("RapidOCR is not installed; run: pip install rapidocr-onnxruntime")


def _boxes(reading: Any) -> list[Box]:
    """The boxes of either package's result: pairs, or an object with two lists."""
    if hasattr(reading, "boxes"):
        corners, texts = reading.boxes, reading.txts
        pairs = [] if corners is None else list(zip(corners, texts, strict=True))
    else:
        pairs = [(line[0], line[1]) for line in reading[0] or []]
    return [
        Box(
            left=min(x for x, _ in corners),
            top=min(y for _, y in corners),
            bottom=max(y for _, y in corners),
            text=text,
        )
        for corners, text in pairs
    ]
