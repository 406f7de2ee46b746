"""Reads files with labels of many documents: Label Studio, tagged pages, JSON Lines. No Django.

What a file says of one document is a `FileLabels` with the content still unplaced: only the
document's own text tells where its spans are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO

from portal.datasets.sources.gold import bounded_lines
from portal.datasets.sources.json_arrays import json_items
from portal.datasets.sources.layout import PAGE_SUFFIXES, printable
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
from portal.files.archives import ArchiveFault, ArchiveLimits, open_archive

GOLD_FOLDER = "gold"
# Form → the endings its files have.
SUFFIXES = {
    "labelstudio": (".json",),
    "tags": (".zip",),
    "jsonl": (".jsonl", ".jsonl.gz"),
    "full": (".zip",),
}


@dataclass(frozen=True)
class StudioWork:
    """An annotation of Label Studio; the task has the page that was labelled."""

    task: Task
    annotation: TaskAnnotation


@dataclass(frozen=True)
class FileLabels:
    """What one place in a file says of one document.

    `by` is the file's name for the annotator, empty where it tells none; the content is an
    annotation of Label Studio, a line, or a tagged page.
    """

    where: str
    name: str
    text_sha256: str
    by: str
    is_gold: bool
    content: StudioWork | DocumentLine | str


@dataclass(frozen=True)
class FileFault:
    """What could not be read; the message names file or line, and field."""

    message: str


def read_label_file(
    file: IO[bytes], filename: str, form: str, limits: ArchiveLimits
) -> Iterator[FileLabels | FileFault]:
    """Yields what the file says, and a fault for each part that cannot be read.

    Raises ArchiveFault when the file as a whole is unusable.
    """
    readers = {"labelstudio": _from_label_studio, "tags": _from_archive, "jsonl": _from_lines}
    return readers[form](file, filename, limits)


def _from_lines(
    file: IO[bytes], filename: str, limits: ArchiveLimits
) -> Iterator[FileLabels | FileFault]:
    for number, line in bounded_lines(file, filename, limits):
        if not line.strip():
            continue
        where = f"{filename}:{number}"
        try:
            read = read_document_line(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            yield FileFault(f"{where}: not UTF-8 at byte {error.start + 1}")
        except ReadingError as error:
            yield FileFault(f"{where}: {error}")
        else:
            is_gold = not read.annotator
            yield FileLabels(where, read.name, read.text_sha256, read.annotator, is_gold, read)


def _from_archive(
    file: IO[bytes], _filename: str, limits: ArchiveLimits
) -> Iterator[FileLabels | FileFault]:
    """A page in a folder is of the annotator the folder is called by, or gold."""
    with open_archive(file, limits) as archive:
        names = [member.name for member in archive.members()]
        pages = [name for name in names if PurePosixPath(name).suffix.lower() in PAGE_SUFFIXES]
        if not pages:
            raise ArchiveFault("no_pages", "there is no NAME.html in the archive")
        for name in sorted(pages):
            where, path = printable(name), PurePosixPath(name)
            try:
                html = decode_html(archive.read(name))
            except ArchiveFault as fault:
                yield FileFault(str(fault))
            except RefusedHtml as fault:
                yield FileFault(f"{where}: {fault.reason}")
            else:
                is_gold = path.parent.name == GOLD_FOLDER
                by = "" if is_gold else path.parent.name
                yield FileLabels(where, path.stem, "", by, is_gold, html)


def _from_label_studio(
    file: IO[bytes], filename: str, limits: ArchiveLimits
) -> Iterator[FileLabels | FileFault]:
    for number, item in enumerate(json_items(file, filename, limits)):
        for task in read_tasks([item]):
            if isinstance(task, ReadingError):
                yield FileFault(f"{filename}: item {number + 1}: {task}")
            else:
                yield from _of_task(task)


def _of_task(task: Task) -> Iterator[FileLabels | FileFault]:
    text_sha256 = task.data.get("text_sha256")
    for annotation in task.annotations:
        where = f"{task.where}, annotation {annotation.id or '1'}"
        if annotation.is_cancelled:
            yield FileFault(f"{where}: its annotator skipped the task; nothing was taken from it")
            continue
        for kind, count in annotation.other.items():
            yield FileFault(f"{where}: {count} results of the type {kind} are no spans")
        yield FileLabels(
            where,
            task.name,
            text_sha256 if isinstance(text_sha256, str) else "",
            annotation.by,
            annotation.is_gold,
            StudioWork(task, annotation),
        )
