"""Reads a model's marks from an uploaded file. No Django.

a .jsonl or .jsonl.gz    one document a line: {"id", "html"} with inline tags, or
                         {"id", "spans": [{"start", "end", "label"}, …]}, code points
a .zip                   ID.html with inline tags, or ID.json with {"spans": […]}
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any

from portal.datasets.sources.gold import bounded_lines
from portal.datasets.sources.layout import PAGE_SUFFIXES, printable
from portal.facts import RefusedHtml, Span, decode_html
from portal.files.archives import ArchiveFault, ArchiveLimits, Member, open_archive

from .span_input import MAX_SPANS

LINES = (".jsonl", ".jsonl.gz")


@dataclass(frozen=True)
class ModelPage:
    """What a model marked in one document: a tagged page, or spans. `where` is file, or file and
    line.
    """

    where: str
    name: str
    html: str | None = None
    spans: Sequence[Span] = ()


@dataclass(frozen=True)
class ModelFault:
    """What could not be read; the message names file or line, and field."""

    message: str


def read_model_pages(
    file: IO[bytes], filename: str, limits: ArchiveLimits
) -> Iterator[ModelPage | ModelFault]:
    """Yields the documents one by one, and a fault for each that cannot be read.

    Raises ArchiveFault when the file as a whole is unusable.
    """
    if filename.lower().endswith(LINES):
        yield from _from_lines(file, filename, limits)
    elif filename.lower().endswith(".zip"):
        yield from _from_archive(file, limits)
    else:
        message = f"{filename}: suggestions are a .zip, a .jsonl or a .jsonl.gz"
        raise ArchiveFault("not_suggestions", message)


def _from_lines(
    file: IO[bytes], filename: str, limits: ArchiveLimits
) -> Iterator[ModelPage | ModelFault]:
    for number, line in bounded_lines(file, filename, limits):
        if line.strip():
            yield _page(f"{filename}:{number}", line)


def _from_archive(file: IO[bytes], limits: ArchiveLimits) -> Iterator[ModelPage | ModelFault]:
    with open_archive(file, limits) as archive:
        for member in _page_members(archive.members()):
            where, path = printable(member), PurePosixPath(member)
            try:
                data = archive.read(member)
                if path.suffix.lower() == ".json":
                    yield _page(where, data, path.stem)
                else:
                    yield ModelPage(where, path.stem, decode_html(data))
            except ArchiveFault as fault:
                yield ModelFault(str(fault))
            except RefusedHtml as fault:
                yield ModelFault(f"{where}: {fault.reason}")


def _page_members(members: Sequence[Member]) -> list[str]:
    taken = PAGE_SUFFIXES | {".json"}
    names = [m.name for m in members if PurePosixPath(m.name).suffix.lower() in taken]
    if not names:
        raise ArchiveFault("no_pages", "there is neither an ID.html nor an ID.json in the archive")
    return sorted(names)


def _page(where: str, data: bytes, name: str = "") -> ModelPage | ModelFault:
    """One JSON object; `name` is given where the file's name is the id."""
    try:
        page = json.loads(data.decode("utf-8"))
        if not isinstance(page, dict):
            raise ValueError("it must be a JSON object")
        return _page_of(where, page, name)
    except UnicodeDecodeError as error:
        return ModelFault(f"{where}: not UTF-8 at byte {error.start + 1}")
    except (ValueError, RecursionError) as error:
        return ModelFault(f"{where}: {error}")


def _page_of(where: str, page: Mapping[str, Any], name: str) -> ModelPage:
    identity = name or page.get("id")
    if not isinstance(identity, str):
        raise ValueError("id is missing or not a text")
    if isinstance(page.get("html"), str):
        return ModelPage(where, identity, page["html"])
    spans = page.get("spans")
    if not isinstance(spans, list):
        raise ValueError("neither html, a text, nor spans, a list, is there")
    if len(spans) > MAX_SPANS:
        raise ValueError(f"spans: {len(spans)} are more than the {MAX_SPANS} one page may have")
    return ModelPage(where, identity, spans=[_span(n, span) for n, span in enumerate(spans)])


def _span(number: int, span: object) -> Span:
    where = f"spans[{number}]"
    if not isinstance(span, dict):
        raise ValueError(f"{where} must be an object with start, end and label")
    for field in ("start", "end"):
        # bool is an int in Python; in JSON it is not a number.
        if type(span.get(field)) is not int:
            raise ValueError(f"{where}.{field} must be a whole number")
    if not isinstance(span.get("label"), str):
        raise ValueError(f"{where}.label must be a text")
    return Span(span["start"], span["end"], span["label"])
