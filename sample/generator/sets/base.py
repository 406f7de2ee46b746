"""The parts of a sample set: images to render, gold lines, and the files of an import."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
FONT = "Liberation Sans,Noto Sans CJK SC,sans-serif"
DEV, TEST = "dev", "test"

Line = dict[str, Any]


@dataclass(frozen=True)
class Picture:
    """An image to render: its path below the set's folder, its HTML and its width in CSS
    pixels. `capture` is a simulated condition under which it was taken, a key of CAPTURES."""

    path: str
    html: str
    width: int
    capture: str = ""

    @property
    def digest(self) -> str:
        """A hash stored in the image, to detect outdated images."""
        return hashlib.sha256(f"{self.capture}\n{self.html}".encode()).hexdigest()


@dataclass(frozen=True)
class Question:
    """One item: its gold line, its split, and its images."""

    gold: Line
    split: str
    pictures: tuple[Picture, ...]
    asked: Mapping[str, Any] = field(default_factory=dict)
    """Further input of a rule-based reader, such as the names of the fields."""


@dataclass(frozen=True)
class Reading:
    """The OCR output for the images of a question: its lines, and its layout as HTML."""

    text: str
    html: str


@dataclass(frozen=True)
class SampleSet:
    """The sample data of one benchmark.

    `source` are the text files of the import by their paths below `source/`. `read` answers a
    question from the OCR output of its images; `simulate` answers it from the gold itself, with
    `errors` in a thousand values, because no model can be shipped.
    """

    benchmark: str
    pictures: Sequence[Picture]
    questions: Sequence[Question]
    source: Mapping[str, str]
    read: Callable[[Question, Reading], Line]
    how: str
    """How `read` processes the engine's text, for the model card."""
    simulate: Callable[[Question, int, str], Line] | None = None
    beside: Mapping[str, str] = field(default_factory=dict)
    """Further text files, by their paths."""

    @property
    def folder(self) -> Path:
        return FOLDER / self.benchmark

    @property
    def splits(self) -> tuple[str, ...]:
        return tuple(split for split in (DEV, TEST) if self.of_split(split))

    def of_split(self, split: str) -> list[Question]:
        return [question for question in self.questions if question.split == split]


def document(body: str, *, width: int, style: str = "") -> str:
    """A whole page around a body, as wide as its picture."""
    frame = f"width:{width - 48}px;padding:20px 24px;font:10pt {FONT};line-height:1.3;{style}"
    return (
        '<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head>\n'
        f'<body style="margin:0;background-color:#ffffff"><div style="{frame}">\n'
        f"{body}</div></body></html>\n"
    )


def json_lines(lines: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
