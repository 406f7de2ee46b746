"""From answers to the submission file of a benchmark: repairs, lines, and the outcome of each item.

Repairs are those of `scoring.metrics.answer`. Each has a name, is counted in the manifest, and is
left out with `--raw`; scoring makes them too.
"""

import hashlib
import json
import os
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from scoring.benchmarks.answers import ANSWER_KEYS, form_of
from scoring.benchmarks.reading import DEFAULT_LIMITS
from scoring.metrics.answer import REASONING, read_answer, reasoning_mark

from .core import LONGEST_REASON, AnswerRecord, EngineAnswer
from .kits import Kit, KitItem
from .manifest import ONLY_REASONING, ItemRun, Latency, Repair, State

CHARACTERS = "invalid characters replaced"


def storable(text: str) -> tuple[str, list[str]]:
    """The text without NUL and halves of surrogate pairs, which no benchmark accepts. This change
    is made even to raw answers."""
    fixed = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    fixed = fixed.encode("utf-8", "replace").decode("utf-8")
    return fixed, [CHARACTERS] if fixed != text else []


def prediction(benchmark: str, item: str, text: str, output_tokens: int | None) -> dict[str, Any]:
    """One line of a submission in the benchmark's own layout."""
    line: dict[str, Any] = {"id": item}
    if benchmark == "ccocr":
        # Items are named subset:id, because images of two subsets can have the same id.
        line["subset"], _, line["id"] = item.partition(":")
    line[ANSWER_KEYS[benchmark]] = text
    if benchmark == "fcmbench" and output_tokens is not None:
        line["output_tokens"] = output_tokens
    return line


@dataclass
class Outcome:
    """The outcome of the items of a run."""

    sha256: str = ""
    items: list[ItemRun] = field(default_factory=list)
    repairs: Counter[str] = field(default_factory=Counter)
    missing: int = 0
    """Items without an outcome: they were not asked."""

    def count(self, state: State) -> int:
        return sum(item.state == state for item in self.items)

    @property
    def without_answer(self) -> int:
        return self.missing + self.count("failed")

    def repairs_made(self) -> tuple[Repair, ...]:
        return tuple(Repair(name=name, items=n) for name, n in sorted(self.repairs.items()))

    def latency(self) -> Latency | None:
        seconds = sorted(item.seconds for item in self.items if item.seconds is not None)
        if not seconds:
            return None
        at = min(round(0.95 * (len(seconds) - 1)), len(seconds) - 1)
        return Latency(median=statistics.median(seconds), p95=seconds[at])


@dataclass(frozen=True)
class Writing:
    """How the answers of a run become predictions."""

    benchmark: str
    is_raw: bool
    begins_in_prompt: bool
    """Whether the model's chat template begins reasoning, so that an answer that was cut off
    before its end has no mark of it and is a draft."""

    def text_of(self, item: KitItem, answer: EngineAnswer) -> tuple[str, Sequence[str]]:
        """The prediction, and the changes that led to it."""
        if answer.state != "answered" or self.is_raw:
            return answer.text if answer.state == "answered" else "", ()
        if self.begins_in_prompt and answer.is_cut_off and not reasoning_mark(answer.text):
            return "", (REASONING,)
        return read_answer(answer.text, form_of(self.benchmark, item.kind))


def _begins_in_prompt(records: Iterable[AnswerRecord | None]) -> bool:
    """Whether most complete answers end reasoning that they do not begin."""
    marks = Counter(
        reasoning_mark(record.answer.text)
        for record in records
        if record and record.answer.state == "answered" and not record.answer.is_cut_off
    )
    return 2 * marks["end"] > marks.total()


class Outcomes(Protocol):
    """A log that finds the last outcome of each item."""

    def last(self, ids: Sequence[str]) -> Iterator[AnswerRecord | None]: ...


def write_submission(path: Path, kit: Kit, log: Outcomes, *, is_raw: bool) -> Outcome:
    """Writes the predictions in the order of the items. Items without an answer are left out:
    they count as missing, not as empty answers."""
    outcome = Outcome()
    digest = hashlib.sha256()
    ids = [item.id for item in kit.items]
    writing = Writing(kit.benchmark, is_raw, not is_raw and _begins_in_prompt(log.last(ids)))

    def lines() -> Iterator[bytes]:
        for item, record in zip(kit.items, log.last(ids), strict=True):
            if record is None:
                outcome.missing += 1
                continue
            line = _line(writing, item, record.answer, outcome)
            if line:
                digest.update(line)
                yield line

    write_atomically(path, lines())
    outcome.sha256 = digest.hexdigest()
    return outcome


def _line(writing: Writing, item: KitItem, answer: EngineAnswer, outcome: Outcome) -> bytes:
    text, changes = writing.text_of(item, answer)
    text, replaced = storable(text)
    state, reason = answer.state, answer.reason
    if len(text) > DEFAULT_LIMITS.characters:
        # Asking again would not help, and nothing is gained by an answer that no file can hold.
        text, state = "", "empty"
        reason = f"the answer is longer than {DEFAULT_LIMITS.characters:,} characters"
    elif state == "answered" and not text.strip():
        state = "empty"
        if REASONING in changes:
            reason = "; ".join(filter(None, [reason, ONLY_REASONING]))
    outcome.items.append(
        ItemRun(
            id=item.id,
            state=state,
            attempts=answer.attempts,
            seconds=answer.seconds,
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            reason=storable(reason)[0][:LONGEST_REASON],
        )
    )
    if state == "failed":
        return b""
    outcome.repairs.update([*changes, *replaced])
    line = prediction(writing.benchmark, item.id, text, answer.output_tokens)
    return (json.dumps(line, ensure_ascii=False) + "\n").encode()


def write_atomically(path: Path, pieces: Iterable[bytes]) -> None:
    """The file has its old content or the new one, never a part."""
    partial = path.with_name(f"{path.name}.partial")
    with partial.open("wb") as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """After a crash, new names in the folder are still there."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
