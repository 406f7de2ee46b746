"""Checks of whole files against each other, with every fault and not only the first."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from .base import GoldLine, PredictionLine
from .reading import ReadFault

# Faults that are listed one by one; a file can hold a million of them.
MOST_FAULTS = 1000


@dataclass(frozen=True)
class GoldCheck:
    """Gold items by id in file order, and the faults; with any fault the gold cannot be used."""

    lines: dict[str, GoldLine]
    faults: tuple[ReadFault, ...]
    faults_left_out: int = 0


@dataclass(frozen=True)
class PredictionCheck:
    """The usable predictions by id, the faults, and the known ids that have no prediction.

    Any fault speaks against taking the submission. A missing id does not: it scores zero, or is
    left out, as the benchmark's option says.
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
    """Collects gold lines; an id that comes again is a fault. `name` is the file to blame if it
    is empty."""
    kept: dict[str, GoldLine] = {}
    faults = FaultList()
    for line in lines:
        if isinstance(line, ReadFault):
            faults.add(line)
        elif line.id in kept:
            faults.add(used_again(line, kept[line.id].file, kept[line.id].line))
        else:
            kept[line.id] = line
    if not kept and not faults.listed:
        faults.add(ReadFault(name, 0, None, "holds no items"))
    return GoldCheck(kept, tuple(faults.listed), faults.left_out)


def check_predictions(
    lines: Iterable[PredictionLine | ReadFault],
    known_ids: Collection[str],
    name: str = "submission",
) -> PredictionCheck:
    """Collects predictions; ids that come again or that the gold does not have are faults.

    `name` is the file to blame if it is empty.
    """
    known = frozenset(known_ids)
    kept: dict[str, PredictionLine] = {}
    faults = FaultList()
    for line in lines:
        if isinstance(line, ReadFault):
            faults.add(line)
        elif line.id in kept:
            faults.add(used_again(line, kept[line.id].file, kept[line.id].line))
        elif line.id not in known:
            faults.add(unknown_id(line))
        else:
            kept[line.id] = line
    if not kept and not faults.listed:
        faults.add(ReadFault(name, 0, None, "holds no predictions"))
    missing = tuple(item for item in known_ids if item not in kept)
    return PredictionCheck(kept, tuple(faults.listed), missing, faults.left_out)


def used_again(line: GoldLine | PredictionLine, file: str, number: int) -> ReadFault:
    """The fault of a line whose id was used before, at that line of that file."""
    message = f"the id {line.id!r} was already used at {file}:{number}"
    return ReadFault(line.file, line.line, line.id, message)


def unknown_id(line: PredictionLine) -> ReadFault:
    """The fault of a prediction for an item that the gold does not have."""
    return ReadFault(line.file, line.line, line.id, f"unknown id {line.id!r}")
