"""Checks lines and files, joins gold and predictions, and scores them.

All faults are reported, not only the first, with the same messages for every benchmark. Gold and
predictions are joined by id without holding them in memory: a first pass checks every line and
writes its canonical form to a temporary file; only ids and offsets stay in memory. So files of
every layout are joined in the same way, including gzip and ZIP, and a file may change while it is
graded. Joined items are scored on several cores; results come in the order of the gold.
"""

import json
import os
import tempfile
from array import array
from collections import deque
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from .base import GoldLine, ItemScorer, PredictionLine
from .items import ItemResult, Options, Payload
from .reading import LONGEST_ID, ReadFault, Record, quoted

# Larger numbers are not shown in messages.
_LARGE = 1e12


def check_id(record: Record) -> str | None:
    """Return what is wrong with the record's `id`, or None."""
    if problem := check_text(record, "id", LONGEST_ID):
        return problem
    item = record.value["id"]
    if not item.strip() or not item.isprintable():
        return f"'id' must have 1 to {LONGEST_ID} printable characters"
    return None


def check_text(record: Record, key: str, longest: int) -> str | None:
    """Return what is wrong with the text under a key, or None. Empty text is allowed."""
    if key not in record.value:
        return f"has no {key!r}"
    text = record.value[key]
    if not isinstance(text, str):
        return f"{key!r} must be a string, not {kind_of(text)}"
    if "\0" in text:
        return f"{key!r} contains a NUL character"
    if len(text) > longest:
        return f"{key!r} is longer than {longest:,} characters"
    return None


def holds_nul(value: Any) -> bool:
    """Whether a key or string in a JSON value has a NUL character, which databases cannot store."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            stack.extend(node)
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, str) and "\0" in node:
            return True
    return False


def kind_of(value: object) -> str:
    """Name a JSON value's type.

    >>> kind_of(None), kind_of(True), kind_of([1])
    ('null', 'true or false', 'a list')
    """
    if value is None:
        return "null"
    names = {str: "a string", bool: "true or false", int: "a number", float: "a number"}
    return {**names, list: "a list"}.get(type(value), "an object")


def named(value: object) -> str:
    """Describe a JSON value in a message: short texts and numbers as they are, other values by
    type.

    >>> named("kie"), named(45), named([[1]]), named(10**100)
    ("'kie'", '45', 'a list', 'a number')
    """
    if isinstance(value, str):
        return quoted(value)
    is_short = isinstance(value, int | float) and abs(value) < _LARGE
    return str(value) if is_short else kind_of(value)


_Line = TypeVar("_Line", GoldLine, PredictionLine)


def _own_id(payload: Payload) -> str:
    return str(payload["id"])


def read_lines(
    kind: type[_Line],
    records: Iterable[Record | ReadFault],
    problem: Callable[[Record], str | ReadFault | None],
    payload: Callable[[dict[str, Any]], Payload],
    identity: Callable[[Payload], str] = _own_id,
) -> Iterator[_Line | ReadFault]:
    """Yield a line for every usable record, and the faults of the others.

    `problem` returns what is wrong with a record, `payload` the canonical form of its value.
    """
    for record in records:
        if isinstance(record, ReadFault):
            yield record
        elif reason := problem(record):
            yield reason if isinstance(reason, ReadFault) else record.fault(reason)
        else:
            own = payload(record.value)
            yield kind(identity(own), own, record.file, record.line)


# The most faults that are listed; a file can have a million.
MOST_FAULTS = 1000


@dataclass(frozen=True)
class GoldCheck:
    """Gold items by id in file order, and the faults. Gold with any fault cannot be used."""

    lines: dict[str, GoldLine]
    faults: tuple[ReadFault, ...]
    faults_left_out: int = 0


@dataclass(frozen=True)
class PredictionCheck:
    """The usable predictions by id, the faults, and the known ids that have no prediction.

    A submission with any fault is refused. A missing id is not a fault: it scores zero or is left
    out, as the benchmark's option says.
    """

    lines: dict[str, PredictionLine]
    faults: tuple[ReadFault, ...]
    missing: tuple[str, ...]
    faults_left_out: int = 0


class FaultList:
    """Keeps the first MOST_FAULTS and counts the rest."""

    def __init__(self) -> None:
        self.listed: list[ReadFault] = []
        self.left_out = 0

    def add(self, fault: ReadFault) -> None:
        if len(self.listed) < MOST_FAULTS:
            self.listed.append(fault)
        else:
            self.left_out += 1


def check_gold(lines: Iterable[GoldLine | ReadFault], name: str = "gold") -> GoldCheck:
    """Collect gold lines. A repeated id is a fault. `name` is the file to report if it is empty."""
    kept: dict[str, GoldLine] = {}
    faults = FaultList()
    for line in _usable(lines, faults, kept.get, ReadFault(name, 0, None, _NO_ITEMS)):
        kept[line.id] = line
    return GoldCheck(kept, tuple(faults.listed), faults.left_out)


def check_predictions(
    lines: Iterable[PredictionLine | ReadFault],
    known_ids: Collection[str],
    name: str = "submission",
) -> PredictionCheck:
    """Collect predictions. Repeated ids and ids that the gold does not have are faults.

    `name` is the file to report if it is empty.
    """
    kept: dict[str, PredictionLine] = {}
    faults = FaultList()
    empty = ReadFault(name, 0, None, _NO_PREDICTIONS)
    for line in _usable(lines, faults, kept.get, empty, frozenset(known_ids)):
        kept[line.id] = line
    missing = tuple(item for item in known_ids if item not in kept)
    return PredictionCheck(kept, tuple(faults.listed), missing, faults.left_out)


_NO_ITEMS, _NO_PREDICTIONS = "contains no items", "contains no predictions"


class _Source(NamedTuple):
    """The place of a line in the files."""

    file: str
    line: int


def _usable(
    lines: Iterable[_Line | ReadFault],
    faults: FaultList,
    earlier: Callable[[str], GoldLine | PredictionLine | _Source | None],
    empty: ReadFault,
    known: Container[str] | None = None,
) -> Iterator[_Line]:
    """Yield the usable lines and add the faults of the others.

    `earlier` returns the earlier line with an id. Ids outside `known` are faults. Without any line,
    `empty` is the fault.
    """
    is_empty = True
    for line in lines:
        if isinstance(line, ReadFault):
            faults.add(line)
        elif known is not None and line.id not in known:
            faults.add(ReadFault(line.file, line.line, line.id, f"unknown id {line.id!r}"))
        elif used := earlier(line.id):
            message = f"the id {line.id!r} was already used at {used.file}:{used.line}"
            faults.add(ReadFault(line.file, line.line, line.id, message))
        else:
            is_empty = False
            yield line
    if is_empty and not faults.listed:
        faults.add(empty)


# The most that one chunk holds: few enough to spread heavy items over the cores, many enough that
# the transfer costs little compared with the scoring.
_MOST_ITEMS = 256
_MOST_BYTES = 256 * 1024
_NONE = -1
# Shared by all lines: making an encoder takes as long as encoding a short line.
_encode = json.JSONEncoder(ensure_ascii=False).encode


class Place(NamedTuple):
    """The position of a line in the temporary file, in bytes."""

    offset: int
    length: int

    def read(self, file: int) -> Payload:
        """Read the line from the file with this descriptor."""
        payload: Payload = json.loads(os.pread(file, self.length, self.offset).decode("utf-8"))
        return payload


class JoinedItem(NamedTuple):
    """A gold item and its prediction, if it has one."""

    gold: Place
    prediction: Place | None


Chunk = tuple[JoinedItem, ...]


class _Lines:
    """Positions and sources of lines, about 32 bytes per line. An offset of _NONE means that the
    line is missing."""

    def __init__(self) -> None:
        self.offsets = array("q")
        self.lengths = array("q")
        self._files = array("q")
        self._numbers = array("q")
        self._names: dict[str, int] = {}

    def append(self) -> None:
        """Add a line that is missing so far."""
        for part in (self.offsets, self.lengths, self._files, self._numbers):
            part.append(_NONE)

    def put(self, index: int, place: Place, line: GoldLine | PredictionLine) -> None:
        self.offsets[index], self.lengths[index] = place
        self._files[index] = self._names.setdefault(line.file, len(self._names))
        self._numbers[index] = line.line

    def place(self, index: int) -> Place | None:
        offset = self.offsets[index]
        return None if offset == _NONE else Place(offset, self.lengths[index])

    def source(self, index: int | None) -> _Source | None:
        """Return the source of a line; None if the line is missing."""
        if index is None or self.offsets[index] == _NONE:
            return None
        file = next(name for name, code in self._names.items() if code == self._files[index])
        return _Source(file, self._numbers[index])


class JoinedItems:
    """The items of a gold file, in its order, with their predictions.

    A context manager: the temporary file is removed at its end. Call `add_gold` once, then
    `add_predictions`. Both take what a benchmark's readers yield, with `name` as the file to report
    if it is empty, and return the faults; with any fault, nothing should be scored. They find the
    same faults as `check_gold` and `check_predictions`. Raises OSError if the disk is full.
    """

    def __init__(self) -> None:
        self._spool = tempfile.NamedTemporaryFile(prefix="factboard-grade-", suffix=".jsonl")  # noqa: SIM115 - closed by __exit__
        self._size = 0
        self._index: dict[str, int] = {}
        self._gold = _Lines()
        self._predictions = _Lines()

    def __enter__(self) -> "JoinedItems":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._spool.close()

    def __len__(self) -> int:
        return len(self._index)

    @property
    def path(self) -> Path:
        """The temporary file, complete once all lines were added."""
        return Path(self._spool.name)

    @property
    def size(self) -> int:
        """Bytes of all lines."""
        return self._size

    def add_gold(self, lines: Iterable[GoldLine | ReadFault], name: str = "gold") -> FaultList:
        faults = FaultList()
        empty = ReadFault(name, 0, None, _NO_ITEMS)
        for line in _usable(lines, faults, self._earlier(self._gold), empty):
            index = self._index[line.id] = len(self._index)
            self._gold.append()
            self._predictions.append()
            self._gold.put(index, self._write(line.payload), line)
        self._spool.flush()
        return faults

    def add_predictions(
        self, lines: Iterable[PredictionLine | ReadFault], name: str = "submission"
    ) -> FaultList:
        faults = FaultList()
        empty = ReadFault(name, 0, None, _NO_PREDICTIONS)
        earlier = self._earlier(self._predictions)
        for line in _usable(lines, faults, earlier, empty, self._index):
            self._predictions.put(self._index[line.id], self._write(line.payload), line)
        self._spool.flush()
        return faults

    def chunks(self) -> Iterator[Chunk]:
        """Yield all items in gold order, in chunks."""
        chunk: list[JoinedItem] = []
        size = 0
        for index in range(len(self._index)):
            gold = Place(self._gold.offsets[index], self._gold.lengths[index])
            prediction = self._predictions.place(index)
            length = gold.length + (prediction.length if prediction else 0)
            if chunk and (len(chunk) == _MOST_ITEMS or size + length > _MOST_BYTES):
                yield tuple(chunk)
                chunk, size = [], 0
            chunk.append(JoinedItem(gold, prediction))
            size += length
        if chunk:
            yield tuple(chunk)

    def _earlier(self, lines: _Lines) -> Callable[[str], _Source | None]:
        return lambda item: lines.source(self._index.get(item))

    def _write(self, payload: Payload) -> Place:
        data = _encode(payload).encode("utf-8") + b"\n"
        self._spool.write(data)
        place = Place(self._size, len(data))
        self._size += len(data)
        return place


# Below both of these limits, starting the processes would take longer than scoring the items.
_FEW_ITEMS = 2_000
_FEW_BYTES = 1024 * 1024
# Chunks handed out ahead per process. Results that wait for an earlier one are in memory.
_AHEAD = 4


def jobs_for(items: JoinedItems) -> int:
    """Return the number of processes: one for few items, else all available cores."""
    if len(items) < _FEW_ITEMS and items.size < _FEW_BYTES:
        return 1
    return cores()


def cores() -> int:
    """Return the number of cores that this process may use; containers often get fewer than there
    are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def score_items(
    items: JoinedItems, score_item: ItemScorer, options: Options, jobs: int
) -> Iterator[ItemResult]:
    """Yield the results of all items, in the order of the gold.

    With more than one job, `score_item` must be picklable, such as a function of a module. Raises
    BrokenProcessPool if a process is killed from outside.
    """
    score = partial(score_chunk, items.path, score_item, options)
    if jobs == 1:
        for chunk in items.chunks():
            yield from score(chunk)
        return
    executor = ProcessPoolExecutor(jobs)
    try:
        chunks = items.chunks()
        waiting: deque[Future[list[ItemResult]]] = deque(
            executor.submit(score, chunk) for chunk in islice(chunks, jobs * _AHEAD)
        )
        while waiting:
            results = waiting.popleft().result()
            waiting.extend(executor.submit(score, chunk) for chunk in islice(chunks, 1))
            yield from results
    finally:
        executor.shutdown(cancel_futures=True)


def score_chunk(
    path: Path, score_item: ItemScorer, options: Options, chunk: Chunk
) -> list[ItemResult]:
    """Return the results of one chunk, whose lines are in the file at `path`."""
    with path.open("rb", buffering=0) as file:
        descriptor = file.fileno()
        return [
            score_item(
                item.gold.read(descriptor),
                None if item.prediction is None else item.prediction.read(descriptor),
                options,
            )
            for item in chunk
        ]
