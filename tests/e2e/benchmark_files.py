"""Submission files for the five benchmarks: the sample's own, and copies with known errors."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sample.boards import SAMPLES
from sample.parts import DATA, SLUG


@dataclass(frozen=True)
class Case:
    """A benchmark with its sample board.

    `slug` is that of the sample board and its dataset, `release` the option to choose in the form
    of a new board.
    """

    key: str
    slug: str
    release: str
    good: tuple[Path, ...]
    answer: str
    """The key of a prediction that holds the model's output."""

    def good_lines(self) -> list[str]:
        return [line for path in self.good for line in path.read_text("utf-8").splitlines()]


@dataclass(frozen=True)
class Fault:
    """An error that must be reported: line number, the item's id if it is readable, and reason."""

    line: int
    id: str
    message: str


_ANSWERS = {"fcmbench": "response", "ccocr": "response", "receiptbench": "fields", "findoc": "text"}
CASES = (
    Case(
        "fincriticaled",
        SLUG,
        "Sample pages 1.0.0",
        (DATA / "submissions" / "tesseract.jsonl",),
        "html",
    ),
    *(
        Case(
            sample.key,
            sample.slug,
            f"{sample.title} 1.0.0",
            tuple(sample.submissions(split)[0] for split in sample.splits),
            _ANSWERS[sample.key],
        )
        for sample in SAMPLES
    ),
)


def faulty(case: Case) -> tuple[bytes, list[Fault]]:
    """Returns the good file with five different errors in its first six lines, and those errors."""
    lines: list[Any] = [json.loads(line) for line in case.good_lines()]
    known = [item_of(line) for line in lines]
    lines[1] = {**lines[1], case.answer: 7}
    lines[2] = {**lines[2], "id": "nowhere"}
    unknown = item_of(lines[2])
    lines[3] = lines[0]
    written = [json.dumps(line, ensure_ascii=False).encode() for line in lines]
    written[4] = b'{"id": "cut off'
    written[5] = b'{"id": "\xff\xfe"}'
    faults = [
        Fault(2, lines[1]["id"], f"'{case.answer}' must be"),
        Fault(3, unknown, "unknown id"),
        Fault(4, known[0], "already used at bad.jsonl:1"),
        Fault(5, "", "JSON"),
        Fault(6, "", "UTF-8"),
    ]
    return b"\n".join(written) + b"\n", faults


def item_of(line: dict[str, Any]) -> str:
    """Returns the id of the item. In CC-OCR an id is only unique within its subset."""
    return f"{line['subset']}:{line['id']}" if "subset" in line else str(line["id"])
