"""Reads folders and ZIPs with one JSON file per image, named after it."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from portal.files.archives import Archive
from scoring.benchmarks.json_files import holds_json_files, read_json_files, read_json_object
from scoring.benchmarks.reading import ReadFault, ReadLimits, Record, Source, read_records
from scoring.metrics.receipts import FIELDS

_NAMES = frozenset(rule.name for rule in FIELDS)
# What tells a canonical object from one that is the fields themselves.
_WRAPPED = ("fields", "response")
_ABOUT = ("id", "language", "category", "balanced")


def read_any(source: Source, limits: ReadLimits) -> Iterator[Record | ReadFault]:
    """The records of JSON Lines, or of a folder or ZIP of `IMAGE.json`.

    The object in such a file is either a canonical line or the fields themselves; its id is its
    own, else the file's name.
    """
    if holds_json_files(source, limits):
        yield from read_json_files(source, limits, partial(_read_file, limits=limits))
    else:
        yield from read_records(source, limits)


def _read_file(archive: Archive, member: str, shown: str, limits: ReadLimits) -> Record | ReadFault:
    item = PurePosixPath(member).stem
    record = read_json_object(archive, member, shown, limits)
    if isinstance(record, ReadFault):
        return replace(record, id=item)
    return replace(record, value={"id": item, **_wrapped(record.value)})


def _wrapped(value: dict[str, Any]) -> dict[str, Any]:
    """The object as a canonical line; bare fields without what is none of the 19."""
    if any(key in value for key in _WRAPPED) or not _NAMES & value.keys():
        return value
    about = {key: value[key] for key in _ABOUT if key in value}
    return {**about, "fields": {key: value[key] for key in value if key in _NAMES}}
