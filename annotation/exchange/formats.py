"""File formats for labels and for whole campaigns.

The reader of Label Studio, tagged pages and JSON Lines yields a `FileLabels` for each document. Its
spans are not placed yet, because that needs the document's text. An archive of a whole campaign has
one file for each kind of row (`KINDS`), and the shape of every line is checked.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import IO, Any

from portal.datasets.imports.opening import PAGE_SUFFIXES, bounded_lines, printable
from portal.datasets.imports.tables import json_items
from portal.facts import (
    DocumentLine,
    ReadingError,
    RefusedHtml,
    Task,
    TaskAnnotation,
    decode_html,
    read_document_line,
    read_tasks,
)
from portal.files.archives import MEGABYTE, Archive, ArchiveFault, ArchiveLimits, open_archive

FORMAT = "factboard-campaign"
VERSION = 1
HEAD = "campaign.json"
PEOPLE = "people"

# Fields of a campaign that an import copies.
SETTINGS = (
    "labels", "overlap", "guidelines", "guidelines_version", "suggestion_sources", "screening",
    "agreement_threshold", "review_pages", "review_share", "qualification_f1", "state",
)  # fmt: skip
_KINDS_FILE = Path(__file__).resolve().parent.parent / "data" / "archive.toml"


@dataclass(frozen=True)
class Kind:
    """The rows of one model in an archive, as `data/archive.toml` describes them."""

    file: str
    model: str
    owner: str
    fields: Sequence[str]
    refs: Mapping[str, str] = field(default_factory=dict)
    people: Sequence[str] = ()
    times: Sequence[str] = ()
    document: str = ""
    left_out: Sequence[str] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.refs, *self.people, *self.fields, *self.times)


_LISTED: list[dict[str, Any]] = tomllib.loads(_KINDS_FILE.read_text(encoding="utf-8"))["kind"]
KINDS = tuple(Kind(**kind) for kind in _LISTED)

# Kinds that others refer to. Their rows contain their number.
NUMBERED = frozenset(target for kind in KINDS for target in kind.refs.values())
# JSON lists whose entries refer to an assignment.
NAMING_ASSIGNMENTS = MappingProxyType({"documents": ("faults",), "cases": ("proposals",)})

# Unsettled work is exported as if it were not started.
UNTOUCHED = MappingProxyType(
    {
        "revision": 0,
        "active_seconds": 0,
        "flag": "",
        "flag_reason": "",
        "return_reason": "",
        "submitted_at": None,
    }
)


# Files of rows are larger than pages.
MEMBER = 256 * MEGABYTE

Shape = Any
_SPAN_SHAPE: Shape = {
    "label": str, "start": int, "end": int, "quote": str, "value?": str, "sign?": str,
}  # fmt: skip
_SAVED: Shape = _SPAN_SHAPE | {"key": str, "edited?": bool}
_NUMBER_OR_NONE = (int, None)
# Shapes of JSON fields: a type, a list of one shape, `{name: shape}` (`?` marks an optional name,
# `*` any name), or alternatives.
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
    ("cases", "proposals"): [{"assignment": _NUMBER_OR_NONE, "spans": [_SPAN_SHAPE]}],
    ("cases", "decision"): [_SPAN_SHAPE],
    ("decisions", "spans"): [_SPAN_SHAPE],
    ("review_items", "correction"): (_SPAN_SHAPE, None),
}
# Kinds that store spans as lists instead of objects.
_TUPLES = {"known_gold": (int, int, str), "first_submissions": (int, int, str, str, str)}


@dataclass(frozen=True)
class Line:
    """One row; `where` is its file and line."""

    where: str
    row: dict[str, Any]


@dataclass(frozen=True)
class ArchiveContent:
    """`people` by pseudonym, each with a name and optionally an email; `rows` by file of a kind."""

    settings: Mapping[str, Any]
    people: Mapping[str, Mapping[str, str]]
    rows: Mapping[str, list[Line]]
    withheld: int


def read_archive(
    file: IO[bytes], limits: ArchiveLimits, *, progress: Callable[[int], None]
) -> ArchiveContent:
    """Reads a whole campaign. Raises ArchiveFault with the first fault of an invalid archive."""
    with open_archive(file, replace(limits, member=max(limits.member, MEMBER))) as archive:
        names = {member.name for member in archive.members()}
        wanted = [HEAD, f"{PEOPLE}.jsonl", *(f"{kind.file}.jsonl" for kind in KINDS)]
        if missing := [name for name in wanted if name not in names]:
            raise _fault(missing[0], "is missing: the archive is not a whole campaign")
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
        raise _fault(f"{HEAD}: format", f"must be {FORMAT!r}")
    if head.get("version") != VERSION:
        found = str(head.get("version"))[:40]
        raise _fault(f"{HEAD}: version", f"must be {VERSION}, not {found}")
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
            raise _fault(f"{line.where}: id", f"must be {number}, the line number")
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
        raise _fault(where, f"invalid JSON: {error}") from error
    if not isinstance(found, dict):
        raise _fault(where, "must be a JSON object")
    return found


def _check_names(where: str, row: Mapping[str, Any], names: tuple[str, ...]) -> None:
    if missing := [name for name in names if name not in row]:
        raise _fault(f"{where}: {missing[0]}", "this field is missing")
    if unknown := sorted(set(row) - set(names)):
        raise _fault(f"{where}: {unknown[0]}", f"unknown field; known are {', '.join(names)}")


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
    # A bool is an int in Python, but not a number in JSON.
    elif type(value) is not shape:
        words = {str: "a string", int: "a whole number", bool: "true or false", list: "a list"}
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
        raise _fault(where, f"must have {len(types)} values: start, end, label and the meaning")


def _fault(where: str, reason: str) -> ArchiveFault:
    return ArchiveFault("campaign", f"{where}: {reason}")


GOLD_FOLDER = "gold"
# File name suffixes by form.
SUFFIXES = {
    "labelstudio": (".json",),
    "tags": (".zip",),
    "jsonl": (".jsonl", ".jsonl.gz"),
    "full": (".zip",),
}


@dataclass(frozen=True)
class StudioWork:
    """An annotation of Label Studio with its task, which has the labelled page."""

    task: Task
    annotation: TaskAnnotation


@dataclass(frozen=True)
class FileLabels:
    """The labels of one document at one place in a file.

    `by` is the file's name for the annotator, or empty. `content` is an annotation of Label Studio,
    a line, or a tagged page. `unread` counts labels that are not spans, such as those of images.
    """

    where: str
    name: str
    text_sha256: str
    by: str
    is_gold: bool
    content: StudioWork | DocumentLine | str
    unread: int = 0


@dataclass(frozen=True)
class Rejected:
    """A part of a file that is not imported. `where` names the file or line and the document, and
    `reason` the field.
    """

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: not imported: {self.reason}"


Part = FileLabels | Rejected | str


def read_label_file(
    file: IO[bytes], filename: str, form: str, limits: ArchiveLimits
) -> Iterator[Part]:
    """Yields the labels of a file, the parts that cannot be read, and notes on parts that need not
    be. Raises ArchiveFault if the file as a whole is unusable.
    """
    readers = {"labelstudio": _from_label_studio, "tags": _from_archive, "jsonl": _from_lines}
    return readers[form](file, filename, limits)


def _from_lines(file: IO[bytes], filename: str, limits: ArchiveLimits) -> Iterator[Part]:
    for number, line in bounded_lines(file, filename, limits):
        if not line.strip():
            continue
        where = f"{filename}:{number}"
        try:
            read = read_document_line(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            yield Rejected(where, f"invalid UTF-8 at byte {error.start + 1}")
        except ReadingError as error:
            yield Rejected(where, str(error))
        else:
            is_gold = not read.annotator
            yield FileLabels(where, read.name, read.text_sha256, read.annotator, is_gold, read)


def _from_archive(file: IO[bytes], _filename: str, limits: ArchiveLimits) -> Iterator[Part]:
    """Reads tagged pages. The folder of a page names its annotator, or is `gold`."""
    with open_archive(file, limits) as archive:
        names = [member.name for member in archive.members()]
        pages = [name for name in names if PurePosixPath(name).suffix.lower() in PAGE_SUFFIXES]
        if not pages:
            raise ArchiveFault("no_pages", "the archive contains no HTML files")
        for name in sorted(pages):
            where, path = printable(name), PurePosixPath(name)
            try:
                html = decode_html(archive.read(name))
            except ArchiveFault as fault:
                yield Rejected(where, str(fault))
            except RefusedHtml as fault:
                yield Rejected(where, fault.reason)
            else:
                is_gold = path.parent.name == GOLD_FOLDER
                by = "" if is_gold else path.parent.name
                yield FileLabels(where, path.stem, "", by, is_gold, html)


def _from_label_studio(file: IO[bytes], filename: str, limits: ArchiveLimits) -> Iterator[Part]:
    for number, item in enumerate(json_items(file, filename, limits)):
        for task in read_tasks([item]):
            if isinstance(task, ReadingError):
                yield Rejected(f"{filename}: item {number + 1}", str(task))
            else:
                yield from _of_task(task)


def _of_task(task: Task) -> Iterator[Part]:
    text_sha256 = task.data.get("text_sha256")
    for annotation in task.annotations:
        where = f"{task.where}, annotation {annotation.id or '1'}"
        if annotation.is_cancelled:
            yield f"{where}: skipped, because its annotator cancelled the task"
            continue
        for kind, count in annotation.other.items():
            yield f"{where}: ignored {count} results of type {kind}, which are not spans"
        unread = sum(n for kind, n in annotation.other.items() if kind.endswith("labels"))
        yield FileLabels(
            where,
            task.name,
            text_sha256 if isinstance(text_sha256, str) else "",
            annotation.by,
            annotation.is_gold,
            StudioWork(task, annotation),
            unread,
        )
