"""Gold and predictions joined by id without holding them in memory.

A first pass checks every line and lays its canonical form down in a temporary file; what stays in
memory is the ids and where each line lies. So files of every layout are joined alike, gzipped and
zipped ones too, and a file that changes while it is graded does no harm.
"""

import json
import os
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from .base import GoldLine, Payload, PredictionLine
from .checking import FaultList, unknown_id, used_again
from .reading import ReadFault

# What one chunk holds at most: few enough that chunks of heavy items spread over the cores, many
# enough that handing them over costs nothing beside the scoring.
_MOST_ITEMS = 256
_MOST_BYTES = 256 * 1024
_NONE = -1
# One encoder for all lines: making it takes as long as a short line.
_encode = json.JSONEncoder(ensure_ascii=False).encode


class Place(NamedTuple):
    """Where a line lies in the temporary file, in bytes."""

    offset: int
    length: int

    def read(self, file: int) -> Payload:
        """The line, from the file with this descriptor."""
        payload: Payload = json.loads(os.pread(file, self.length, self.offset).decode("utf-8"))
        return payload


class JoinedItem(NamedTuple):
    """A gold item and its prediction, if it has one."""

    gold: Place
    prediction: Place | None


Chunk = tuple[JoinedItem, ...]


class _Lines:
    """Where lines lie and where they came from: about 32 bytes a line. An offset of _NONE stands
    for a line that is not there."""

    def __init__(self) -> None:
        self.offsets = array("q")
        self.lengths = array("q")
        self._files = array("q")
        self._numbers = array("q")
        self._names: dict[str, int] = {}

    def append(self) -> None:
        """Makes room for a line that is not there yet."""
        for part in (self.offsets, self.lengths, self._files, self._numbers):
            part.append(_NONE)

    def put(self, index: int, place: Place, line: GoldLine | PredictionLine) -> None:
        self.offsets[index], self.lengths[index] = place
        self._files[index] = self._names.setdefault(line.file, len(self._names))
        self._numbers[index] = line.line

    def place(self, index: int) -> Place | None:
        offset = self.offsets[index]
        return None if offset == _NONE else Place(offset, self.lengths[index])

    def used_again(self, index: int, line: GoldLine | PredictionLine) -> ReadFault:
        file = next(name for name, code in self._names.items() if code == self._files[index])
        return used_again(line, file, self._numbers[index])


class JoinedItems:
    """The items of a gold file, in its order, with their predictions.

    A context manager: the temporary file is gone at its end. `add_gold` is called once, and then
    `add_predictions`; both take what a benchmark's readers yield, with `name` as the file to blame
    if it is empty, and return the faults, with any of which nothing should be scored. They find
    what `check_gold` and `check_predictions` find. Raises OSError where there is no room.
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
        """The temporary file, whole once all lines were added."""
        return Path(self._spool.name)

    @property
    def size(self) -> int:
        """Bytes of all lines."""
        return self._size

    def add_gold(self, lines: Iterable[GoldLine | ReadFault], name: str = "gold") -> FaultList:
        faults = FaultList()
        for line in lines:
            if isinstance(line, ReadFault):
                faults.add(line)
            elif line.id in self._index:
                faults.add(self._gold.used_again(self._index[line.id], line))
            else:
                index = self._index[line.id] = len(self._index)
                self._gold.append()
                self._predictions.append()
                self._gold.put(index, self._write(line.payload), line)
        if not self._index and not faults.listed:
            faults.add(ReadFault(name, 0, None, "holds no items"))
        self._spool.flush()
        return faults

    def add_predictions(
        self, lines: Iterable[PredictionLine | ReadFault], name: str = "submission"
    ) -> FaultList:
        faults = FaultList()
        is_empty = True
        for line in lines:
            if isinstance(line, ReadFault):
                faults.add(line)
                continue
            index = self._index.get(line.id)
            if index is None:
                faults.add(unknown_id(line))
            elif self._predictions.place(index) is not None:
                faults.add(self._predictions.used_again(index, line))
            else:
                is_empty = False
                self._predictions.put(index, self._write(line.payload), line)
        if is_empty and not faults.listed:
            faults.add(ReadFault(name, 0, None, "holds no predictions"))
        self._spool.flush()
        return faults

    def chunks(self) -> Iterator[Chunk]:
        """All items in gold order, some at a time."""
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

    def _write(self, payload: Payload) -> Place:
        data = _encode(payload).encode("utf-8") + b"\n"
        self._spool.write(data)
        place = Place(self._size, len(data))
        self._size += len(data)
        return place
