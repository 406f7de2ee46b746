"""From answers to the submission file of a benchmark: repairs, lines, and the outcome of each item.

Repairs are changes to raw answers that papers make before they score them. Each has a name, is
counted in the manifest, and is left out with `--raw`.
"""

import ast
import hashlib
import json
import os
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from scoring.benchmarks.reading import DEFAULT_LIMITS

from .core import LONGEST_REASON, AnswerRecord
from .kits import Kit, KitItem
from .manifest import ItemRun, Latency, Repair, State

# --- repairs ------------------------------------------------------------------------------------

Form = Literal["html", "latex", "json", "text"]

REASONING = "reasoning removed"
FENCE = "code fences removed"
JSON_PART = "JSON extracted from other text"
JSON_REPAIR = "JSON repaired"
CHARACTERS = "invalid characters replaced"

_THINK = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>\s*", re.DOTALL)
_BLOCK = re.compile(r"```[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_LANGUAGES: dict[Form, frozenset[str]] = {
    "html": frozenset({"html", "xml"}),
    "latex": frozenset({"latex", "tex"}),
    "json": frozenset({"json", "json5", "python"}),
    "text": frozenset({"text", "txt", "plaintext", "markdown", "md"}),
}
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
# Longer texts are not repaired: they are no answers to a question.
_LONGEST_JSON = 1_000_000


def repaired(text: str, form: Form) -> tuple[str, list[str]]:
    """The answer after every change that applies, and the names of these."""
    changes: list[str] = []
    steps: list[tuple[str, Callable[[str], str]]] = [
        (REASONING, _without_reasoning),
        (FENCE, lambda each: _unfenced(each, form)),
    ]
    if form == "json":
        steps += [(JSON_PART, _json_part), (JSON_REPAIR, _json_repaired)]
    for name, step in steps:
        changed = step(text)
        if changed != text:
            changes.append(name)
            text = changed
    return text, changes


def _without_reasoning(text: str) -> str:
    return _THINK.sub("", text, count=1)


def _unfenced(text: str, form: Form) -> str:
    """The content of the only code block, if it is the whole answer or of the wanted language."""
    blocks = list(_BLOCK.finditer(text))
    if len(blocks) != 1:
        return text
    (block,) = blocks
    is_whole = not (text[: block.start()] + text[block.end() :]).strip()
    return block[2] if is_whole or block[1].lower() in _LANGUAGES[form] else text


def _json_part(text: str) -> str:
    """The text from the first bracket to the last one, if it is JSON and the whole is not."""
    if _is_json(text):
        return text
    part = _between(text)
    return part if part and _is_json(part) else text


def _between(text: str) -> str:
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    end = max(text.rfind("}"), text.rfind("]"))
    return text[min(starts) : end + 1] if starts and end > min(starts) else ""


def _json_repaired(text: str) -> str:
    """JSON with commas before closing brackets, or with the words and quotes of Python."""
    if len(text) > _LONGEST_JSON or _is_json(text):
        return text
    part = _between(text)
    if not part:
        return text
    plain = _without_trailing_commas(part)
    if _is_json(plain):
        return plain
    value = _python_value(part)
    return text if value is None else json.dumps(value, ensure_ascii=False)


def _without_trailing_commas(text: str) -> str:
    """Leaves commas in strings alone."""
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[0])
        return '""'

    bare = _TRAILING_COMMA.sub(r"\1", _STRINGS.sub(keep, text))
    strings = iter(kept)
    return re.sub('""', lambda _: next(strings), bare)


def _python_value(text: str) -> Any:
    """The object or list of a Python literal, such as `{'a': True}`; None for anything else."""
    try:
        value = ast.literal_eval(text)
        json.dumps(value, allow_nan=False)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


def storable(text: str) -> tuple[str, list[str]]:
    """The text without NUL and halves of surrogate pairs, which no benchmark accepts. This change
    is made even to raw answers."""
    fixed = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    fixed = fixed.encode("utf-8", "replace").decode("utf-8")
    return fixed, [CHARACTERS] if fixed != text else []


# --- the submission -----------------------------------------------------------------------------

# The key of a prediction's text, by benchmark.
ANSWER_KEYS = {
    "fincriticaled": "html",
    "findoc": "text",
    "fcmbench": "response",
    "receiptbench": "response",
    "ccocr": "response",
}
_FORMS: dict[str, Form] = {
    "fincriticaled": "html",
    "findoc": "text",
    "fcmbench": "json",
    "receiptbench": "json",
}
_KIND_FORMS: dict[str, Form] = {
    "table": "html",
    "doc": "latex",
    "formula": "latex",
    "kie": "json",
    "grounding": "json",
}


def form_of(benchmark: str, kind: str) -> Form:
    """The expected form of an answer."""
    return _FORMS.get(benchmark) or _KIND_FORMS.get(kind, "text")


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


class Outcomes(Protocol):
    """A log that finds the last outcome of each item."""

    def last(self, ids: Sequence[str]) -> Iterator[AnswerRecord | None]: ...


def write_submission(path: Path, kit: Kit, log: Outcomes, *, is_raw: bool) -> Outcome:
    """Writes the predictions in the order of the items. Items without an answer are left out:
    they count as missing, not as empty answers."""
    outcome = Outcome()
    digest = hashlib.sha256()

    def lines() -> Iterator[bytes]:
        last = log.last([item.id for item in kit.items])
        for item, record in zip(kit.items, last, strict=True):
            if record is None:
                outcome.missing += 1
                continue
            line = _line(kit.benchmark, item, record, outcome, is_raw=is_raw)
            if line:
                digest.update(line)
                yield line

    write_atomically(path, lines())
    outcome.sha256 = digest.hexdigest()
    return outcome


def _line(
    benchmark: str, item: KitItem, record: AnswerRecord, outcome: Outcome, *, is_raw: bool
) -> bytes:
    answer = record.answer
    text, changes = answer.text if answer.state == "answered" else "", list[str]()
    if text and not is_raw:
        text, changes = repaired(text, form_of(benchmark, item.kind))
    text, replaced = storable(text)
    state, reason = answer.state, answer.reason
    if len(text) > DEFAULT_LIMITS.characters:
        state = "failed"
        reason = f"the answer is longer than {DEFAULT_LIMITS.characters:,} characters"
    elif state == "answered" and not text.strip():
        state = "empty"
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
    line = prediction(benchmark, item.id, text, answer.output_tokens)
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
