"""How the gold of each benchmark is read. Datasets do not know; who does, registers here when it
starts: `scoring`, for all of its benchmarks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from .publishing.starter_kit import EmptyLine, empty_line_like


@dataclass(frozen=True)
class GoldLines:
    """Canonical gold lines by id, in the order of the source, and what was wrong with others.

    `places` gives for an id the number of the record it was read from, from 0.
    """

    lines: dict[str, Mapping[str, Any]]
    places: dict[str, int]
    faults: tuple[str, ...] = ()


class GoldFormat(Protocol):
    """The gold of a benchmark and its submissions, as far as releases need it."""

    key: str
    title: str

    def read_file(self, source: Path | IO[bytes], name: str) -> GoldLines:
        """The gold of a file in any layout of the benchmark. Faults name file and line."""

    def read_records(self, records: Sequence[tuple[str, Mapping[str, Any]]]) -> GoldLines:
        """The gold of lines that are known already, each with the name that a fault blames."""

    def empty_line(self, name: str) -> Mapping[str, Any]:
        """The line of a submission that has nothing to say of this item."""


_formats: dict[str, GoldFormat] = {}


def register(gold_format: GoldFormat) -> None:
    """Called once for each benchmark, from an AppConfig."""
    _formats[gold_format.key] = gold_format


def gold_formats() -> list[GoldFormat]:
    return list(_formats.values())


def gold_format(key: str) -> GoldFormat | None:
    return _formats.get(key)


def empty_line_of(benchmark: str) -> EmptyLine:
    """How the empty line of a submission is made; for an unknown benchmark, of the id alone."""
    known = _formats.get(benchmark)
    return known.empty_line if known else empty_line_like("{}")
