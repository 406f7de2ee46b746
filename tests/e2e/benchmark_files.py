"""Files for the five benchmarks: what the sample site ships, and the same with known faults."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sample.boards import SAMPLES
from sample.parts import DATA, SLUG


@dataclass(frozen=True)
class Played:
    """A benchmark as the test plays it: `slug` is the word of its sample board and dataset,
    `release` what the form of a new board calls its release."""

    key: str
    slug: str
    release: str
    good: tuple[Path, ...]
    answer: str
    """The key of a prediction in which a model's answer stands."""

    def good_lines(self) -> list[str]:
        return [line for path in self.good for line in path.read_text("utf-8").splitlines()]


@dataclass(frozen=True)
class Fault:
    """What must be told of a line: its number, the item's id if it can be read, and why."""

    line: int
    id: str
    message: str


_ANSWERS = {"fcmbench": "response", "ccocr": "response", "receiptbench": "fields", "findoc": "text"}
PLAYED = (
    Played(
        "fincriticaled",
        SLUG,
        "Sample pages 1.0.0",
        (DATA / "submissions" / "tesseract.jsonl",),
        "html",
    ),
    *(
        Played(
            sample.key,
            sample.slug,
            f"{sample.title} 1.0.0",
            tuple(sample.submissions(split)[0] for split in sample.splits),
            _ANSWERS[sample.key],
        )
        for sample in SAMPLES
    ),
)


def faulty(played: Played) -> tuple[bytes, list[Fault]]:
    """The good file with five different faults in its first six lines, and what they are."""
    lines: list[Any] = [json.loads(line) for line in played.good_lines()]
    known = [item_of(line) for line in lines]
    lines[1] = {**lines[1], played.answer: 7}
    lines[2] = {**lines[2], "id": "nowhere"}
    unknown = item_of(lines[2])
    lines[3] = lines[0]
    written = [json.dumps(line, ensure_ascii=False).encode() for line in lines]
    written[4] = b'{"id": "cut off'
    written[5] = b'{"id": "\xff\xfe"}'
    faults = [
        Fault(2, lines[1]["id"], f"'{played.answer}' must be"),
        Fault(3, unknown, "unknown id"),
        Fault(4, known[0], "already used at bad.jsonl:1"),
        Fault(5, "", "JSON"),
        Fault(6, "", "UTF-8"),
    ]
    return b"\n".join(written) + b"\n", faults


def item_of(line: dict[str, Any]) -> str:
    """The item that a prediction is for: in CC-OCR an id need only be unique in its subset."""
    return f"{line['subset']}:{line['id']}" if "subset" in line else str(line["id"])
