"""The engines `tesseract` and `rapidocr`: the text of each image, in the form that a benchmark
expects. They answer no questions: where a benchmark asks some, the answer is the text."""

import io
import os
import re
import shutil
from abc import abstractmethod
from dataclasses import dataclass
from importlib import import_module, metadata
from itertools import groupby
from threading import Lock
from typing import Any

from PIL import Image

from scoring.answering.core import ImageSource, RunItem
from scoring.answering.rendering import form_of

from .ocr_layout import Box, boxes_body, html_page, layout_body, read_tsv, rows_of
from .programs import EngineFault, EngineMissing, LocalEngine

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
            found = re.search("<table.*?</table>", whole, re.DOTALL)
            return found[0] if found else "\n".join(page.text for page in pages)
        return whole


class Tesseract(OcrEngine):
    """Runs the program once per image, on one thread for reproducible runs."""

    def __init__(
        self, benchmark: str, *, language: str = "", psm: int = 3, dpi: int = 0, timeout: float
    ) -> None:
        super().__init__(benchmark)
        if shutil.which(TESSERACT) is None:
            raise EngineMissing("tesseract is not installed; Debian has it as tesseract-ocr")
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
                pixels = np.asarray(original.convert("RGB"))
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise EngineFault(f"{image.name}: not an image that can be read") from error
        with self._lock:
            boxes = _boxes(self._engine(pixels))
        text = "\n".join(" ".join(box.text for box in row) for row in rows_of(boxes))
        return Page(text, boxes_body(boxes))


def _rapidocr() -> tuple[Any, str]:
    for module, package in _RAPIDOCR_PACKAGES:
        try:
            return import_module(module).RapidOCR(), f"{package} {metadata.version(package)}"
        except ImportError:
            continue
    raise EngineMissing("RapidOCR is not installed: pip install rapidocr-onnxruntime")


def _boxes(found: Any) -> list[Box]:
    """The boxes of either package's result: pairs, or an object with two lists."""
    if hasattr(found, "boxes"):
        corners, texts = found.boxes, found.txts
        pairs = [] if corners is None else list(zip(corners, texts, strict=True))
    else:
        pairs = [(each[0], each[1]) for each in found[0] or []]
    return [
        Box(
            left=min(x for x, _ in corners),
            top=min(y for _, y in corners),
            bottom=max(y for _, y in corners),
            text=text,
        )
        for corners, text in pairs
    ]
