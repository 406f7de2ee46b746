"""Reads the archive of a whole campaign and checks the form of every line. No Django.

The form of an archive is that of `annotation.archive_format`. A fault names file, line and field.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import IO, Any

from portal.files.archives import MEGABYTE, Archive, ArchiveFault, ArchiveLimits, open_archive

from .archive_format import FORMAT, HEAD, KINDS, NUMBERED, PEOPLE, SETTINGS, VERSION, Kind

# Files of rows are larger than pages.
MEMBER = 256 * MEGABYTE

Shape = Any
_SPAN: Shape = {
    "label": str, "start": int, "end": int, "quote": str, "value?": str, "sign?": str,
}  # fmt: skip
_SAVED: Shape = _SPAN | {"key": str, "edited?": bool}
_NUMBER_OR_NONE = (int, None)
# What JSON fields hold: a type, a list of one shape, `{name: shape}` (a name with `?` may be
# missing, `*` is any), or alternatives.
_SHAPES: Mapping[tuple[str, str], Shape] = {
    ("review_rounds", "population"): {"*": [int]},
    ("documents", "faults"): [
        {"assignment": _NUMBER_OR_NONE, "key": str, "code": str, "message": str}
    ],
    ("screenings", "faults"): [str],
    ("known_gold", "spans"): [list],
    ("first_submissions", "spans"): [list],
    ("revisions", "added"): [_SAVED],
    ("revisions", "removed"): [_SAVED],
    ("cases", "proposals"): [{"assignment": _NUMBER_OR_NONE, "spans": [_SPAN]}],
    ("cases", "decision"): [_SPAN],
    ("decisions", "spans"): [_SPAN],
    ("review_items", "correction"): (_SPAN, None),
}
# Lists in place of objects, where there are many: known gold, and first submissions.
_TUPLES = {"known_gold": (int, int, str), "first_submissions": (int, int, str, str, str)}


@dataclass(frozen=True)
class Line:
    """One row; `where` is its file and line."""

    where: str
    row: dict[str, Any]


@dataclass(frozen=True)
class ArchiveContent:
    """`people` by pseudonym, each with name and perhaps e-mail; `rows` by the kind's file."""

    settings: Mapping[str, Any]
    people: Mapping[str, Mapping[str, str]]
    rows: Mapping[str, list[Line]]
    withheld: int


def read_archive(
    file: IO[bytes], limits: ArchiveLimits, *, progress: Callable[[int], None]
) -> ArchiveContent:
    """Raises ArchiveFault for what is no such archive, naming the first thing that is wrong."""
    with open_archive(file, replace(limits, member=max(limits.member, MEMBER))) as archive:
        names = {member.name for member in archive.members()}
        wanted = [HEAD, f"{PEOPLE}.jsonl", *(f"{kind.file}.jsonl" for kind in KINDS)]
        if missing := [name for name in wanted if name not in names]:
            raise _fault(missing[0], "is missing: this is no whole campaign")
        head = _head(archive)
        people = {line.row["person"]: line.row for line in _people(archive)}
        rows: dict[str, list[Line]] = {}
        done = 0
        for kind in KINDS:
            rows[kind.file] = list(_rows(archive, kind))
            done += len(rows[kind.file])
            progress(done)
    return ArchiveContent(head["settings"], people, rows, head["withheld"])


def _head(archive: Archive) -> dict[str, Any]:
    head = _object(HEAD, archive.read(HEAD))
    if head.get("format") != FORMAT:
        raise _fault(f"{HEAD}: format", f"this is not {FORMAT!r}")
    if head.get("version") != VERSION:
        said = str(head.get("version"))[:40]
        raise _fault(f"{HEAD}: version", f"{said} cannot be read, only {VERSION}")
    settings = head.get("settings")
    if not isinstance(settings, dict):
        raise _fault(f"{HEAD}: settings", "must be an object")
    _check_names(f"{HEAD}: settings", settings, SETTINGS)
    if type(head.get("withheld")) is not int:
        raise _fault(f"{HEAD}: withheld", "must be a whole number")
    return head


def _people(archive: Archive) -> Iterator[Line]:
    for line in _lines(archive, PEOPLE):
        _check_shape(line.where, line.row, {"person": str, "name": str, "email?": str})
        yield line


def _rows(archive: Archive, kind: Kind) -> Iterator[Line]:
    names = (("id",) if kind.file in NUMBERED else ()) + kind.keys
    if kind.file == "documents":
        names += ("name", "text_sha256")
    for number, line in enumerate(_lines(archive, kind.file), start=1):
        _check_names(line.where, line.row, names)
        if kind.file in NUMBERED and line.row["id"] != number:
            raise _fault(f"{line.where}: id", f"must be {number}, the number of its line")
        for name in kind.refs:
            _check_shape(f"{line.where}: {name}", line.row[name], _NUMBER_OR_NONE)
        for name in kind.people:
            _check_shape(f"{line.where}: {name}", line.row[name], (str, None))
        for name in kind.fields:
            if (kind.file, name) in _SHAPES:
                where = f"{line.where}: {name}"
                _check_shape(where, line.row[name], _SHAPES[kind.file, name])
        for place, entry in enumerate(line.row["spans"] if kind.file in _TUPLES else ()):
            _check_tuple(f"{line.where}: spans[{place}]", entry, _TUPLES[kind.file])
        yield line


def _lines(archive: Archive, file: str) -> Iterator[Line]:
    name = f"{file}.jsonl"
    for number, data in enumerate(archive.read(name).split(b"\n"), start=1):
        if data.strip():
            yield Line(f"{name}:{number}", _object(f"{name}:{number}", data))


def _object(where: str, data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _fault(where, f"not JSON: {error}") from error
    if not isinstance(found, dict):
        raise _fault(where, "must be a JSON object")
    return found


def _check_names(where: str, row: Mapping[str, Any], names: tuple[str, ...]) -> None:
    if missing := [name for name in names if name not in row]:
        raise _fault(f"{where}: {missing[0]}", "this field is missing")
    if unknown := sorted(set(row) - set(names)):
        raise _fault(f"{where}: {unknown[0]}", f"unknown; there are {', '.join(names)}")


def _check_shape(where: str, value: Any, shape: Shape) -> None:
    if isinstance(shape, tuple):
        if value is None and None in shape:
            return
        shape = shape[0]
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise _fault(where, "must be a list")
        for place, item in enumerate(value):
            _check_shape(f"{where}[{place}]", item, shape[0])
    elif isinstance(shape, dict):
        _check_object(where, value, shape)
    # A bool is an int in Python, in JSON it is no number.
    elif type(value) is not shape:
        words = {str: "a text", int: "a whole number", bool: "true or false", list: "a list"}
        raise _fault(where, f"must be {words[shape]}")


def _check_object(where: str, value: Any, shape: dict[str, Shape]) -> None:
    if not isinstance(value, dict):
        raise _fault(where, "must be an object")
    if "*" in shape:
        for name, item in value.items():
            _check_shape(f"{where}.{name[:40]}", item, shape["*"])
        return
    for name, inner in shape.items():
        plain = name.removesuffix("?")
        if plain in value:
            _check_shape(f"{where}.{plain}", value[plain], inner)
        elif plain == name:
            raise _fault(f"{where}.{name}", "this field is missing")


def _check_tuple(where: str, entry: list[Any], types: tuple[type, ...]) -> None:
    if [type(item) for item in entry] != list(types):
        raise _fault(where, f"must be {len(types)} values: start, end, label and what they mean")


def _fault(where: str, reason: str) -> ArchiveFault:
    return ArchiveFault("campaign", f"{where}: {reason}")
