"""Pages with labelled facts: gold HTML, FinCriticalED and exports of Label Studio.

Gold HTML has inline fact tags. It is a folder or ZIP of `ID.html`, or lines `{"id", "html"}`. The
pages can be in `gold/` or one folder deep, as in exported releases.

FinCriticalED is a CSV or Parquet table with the page's HTML in `matched_html` and an optional
picture in `image_path`, `image` or `data.image`: embedded, in base64, or as a path into the
source. Published predictions and gold name a page by its row number from 0, which replaces a
missing `id`. Gold is a page with fact tags: `ID.html` or `gold_ID.txt` in a folder whose name
contains `gold`, or JSON Lines of `{"id", "html"}` in a file whose name does.

Label Studio exports a list of tasks, each a page with annotations. A task must hold the HTML of its
page, not only a URL. The ground truth, or else the only annotation, becomes gold. Several
annotations without a ground truth give no gold.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

from portal.facts import (
    KNOWN_LABELS,
    Canonical,
    Page,
    ReadingError,
    RefusedHtml,
    SourcePage,
    Span,
    TagError,
    Task,
    TaskAnnotation,
    canonicalise,
    decode_html,
    place_regions,
    read_tags,
    read_tasks,
    write_tags,
)
from portal.files.archives import ArchiveFault, ArchiveLimits, Member, open_archive

from .items import (
    DESCRIBED,
    ItemError,
    JsonError,
    PicturePaths,
    SourceItem,
    SourceItems,
    check_plain,
    described,
    item_name,
    read_object,
    refused,
)
from .opening import (
    PAGE_SUFFIXES,
    Refusal,
    Source,
    SourceFiles,
    bounded_lines,
    open_source,
    printable,
)
from .tables import TableRow, json_items, pictures_of, read_csv, read_parquet_rows

# Characters shown of each text at the first difference.
EXCERPT = 30


@dataclass(frozen=True)
class GoldPage:
    """One raw page; `where` is its file, or file and line."""

    where: str
    name: str
    html: str


@dataclass(frozen=True)
class GoldFault:
    """An unreadable page; the message names file and line."""

    message: str


def read_gold_pages(path: Path, limits: ArchiveLimits) -> Iterator[GoldPage | GoldFault]:
    """Yields the pages one by one, and a fault for each unreadable page.

    Raises ArchiveFault if the source is unusable.
    """
    if path.is_dir() or path.suffix.lower() == ".zip":
        yield from _from_archive(path, limits)
    elif path.name.lower().endswith((".jsonl", ".jsonl.gz")):
        yield from _from_lines(path, limits)
    else:
        message = f"{path.name}: gold must be a folder, .zip, .jsonl or .jsonl.gz"
        raise ArchiveFault("not_gold", message)


def _from_archive(path: Path, limits: ArchiveLimits) -> Iterator[GoldPage | GoldFault]:
    with open_archive(path, limits) as archive:
        for member in _gold_members(archive.members()):
            where = printable(member)
            try:
                html = decode_html(archive.read(member))
            except ArchiveFault as fault:
                yield GoldFault(str(fault))
            except RefusedHtml as fault:
                yield GoldFault(f"{where}: {fault.reason}")
            else:
                yield GoldPage(where, PurePosixPath(member).stem, html)


def _gold_members(members: Sequence[Member]) -> list[str]:
    """The pages of the folder `gold/`, or of the only folder with pages."""
    by_folder: dict[str, list[str]] = {}
    for member in members:
        path = PurePosixPath(member.name)
        if path.suffix.lower() in PAGE_SUFFIXES and len(path.parts) <= 3:
            by_folder.setdefault(str(path.parent), []).append(member.name)
    gold = [folder for folder in by_folder if PurePosixPath(folder).name == "gold"]
    folders = gold or (["."] if "." in by_folder else list(by_folder))
    if len(folders) != 1:
        names = ", ".join(printable(folder) for folder in sorted(folders)[:5]) or "none"
        message = f"the gold pages ID.html must be in one folder; found {names}"
        raise ArchiveFault("no_gold", message)
    return sorted(by_folder[folders[0]])


def _from_lines(path: Path, limits: ArchiveLimits) -> Iterator[GoldPage | GoldFault]:
    with path.open("rb") as file:
        for number, line in bounded_lines(file, path.name, limits):
            if line.strip():
                yield _read_line(f"{path.name}:{number}", line)


def _read_line(where: str, line: bytes) -> GoldPage | GoldFault:
    try:
        return _page(where, json.loads(line.decode("utf-8")))
    except UnicodeDecodeError as error:
        return GoldFault(f"{where}: not UTF-8 at byte {error.start + 1} of the line")
    except (ValueError, RecursionError) as error:
        return GoldFault(f"{where}: not a gold line: {error}")


def _page(where: str, line: object) -> GoldPage:
    if not isinstance(line, dict):
        raise ValueError("must be a JSON object")
    for key in ("id", "html"):
        if not isinstance(line.get(key), str):
            raise ValueError(f"{key} is missing or not a string")
    return GoldPage(where, line["id"], line["html"])


def gold_difference(html: str, page: Canonical) -> str:
    """The difference between tagged gold and its page, as text; empty if the texts are equal.

    Different markup is harmless, because offsets count in the text.
    """
    try:
        tagged = read_tags(html, KNOWN_LABELS)
    except (TagError, RefusedHtml) as error:
        return str(error)
    if tagged.canonical.text_sha256 == page.text_sha256:
        return ""
    place = first_difference(tagged.canonical.text, page.text)
    return f"the text without tags differs from the page: {place}"


def first_difference(text: str, other: str) -> str:
    """A message that shows the first difference between `text` and the document's text."""
    shorter = min(len(text), len(other))
    at = next((i for i in range(shorter) if text[i] != other[i]), shorter)
    return (
        f"at character {at} it has {text[at : at + EXCERPT]!r}, the document has"
        f" {other[at : at + EXCERPT]!r}"
    )


FINCRITICALED = "fincriticaled"
_HTML = "matched_html"
_PICTURES = ("image_path", "image", "data.image")
# pandas writes its index without a name, and reads it back as the second.
_IDS = ("id", "", "Unnamed: 0")
_GOLD_PREFIX = "gold_"


def read_fincriticaled(source: Source, name: str, limits: ArchiveLimits) -> SourceItems:
    """The pages of all tables of a source with their gold, if any.

    Raises ArchiveFault if the source is unusable.
    """
    with open_source(source, name, limits) as files:
        tables = files.needed("no_table", ".csv or .parquet", ".csv", ".csv.gz", ".parquet")
        gold = _Gold(files)
        paths = PicturePaths(files)
        for table in tables:
            with files.open(table) as file:
                for row in _table_rows(file, table, limits):
                    yield row if isinstance(row, Refusal) else _row_item(row, gold, paths, limits)
        yield from gold.left_over()


def _table_rows(file: IO[bytes], table: str, limits: ArchiveLimits) -> Iterator[TableRow | Refusal]:
    shown = printable(table)
    if table.lower().endswith(".parquet"):
        return read_parquet_rows(file, shown, limits)
    return read_csv(file, shown, limits)


def _row_item(
    row: TableRow, gold: "_Gold", paths: PicturePaths, limits: ArchiveLimits
) -> SourceItem | Refusal:
    values = dict(row.values)
    try:
        html = values.pop(_HTML, None)
        if not isinstance(html, str):
            raise ItemError("no_html", f"{_HTML} is missing or not a string")
        if len(html) > limits.member:
            raise ItemError("too_large", f"{_HTML} is longer than allowed")
        given = next((values.pop(key) for key in _IDS if key in values), row.number)
        name = item_name(str(given))
        record = gold.of(name)
        meta = described(_metadata(values))
    except ItemError as error:
        return refused(row.where, error)
    faults: list[Refusal] = []
    pictures = []
    column = next((key for key in _PICTURES if key in values), None)
    if column is not None:
        try:
            pictures = pictures_of(row, column, paths, limits)
        except ItemError as error:
            faults.append(refused(f"{row.where} {column}", error))
    if isinstance(record, Refusal):
        faults.append(record)
    kept = record if isinstance(record, dict) else None
    return SourceItem(
        row.where, name, html, tuple(pictures), kept, FINCRITICALED, meta=meta, faults=tuple(faults)
    )


def _metadata(values: dict[str, Any]) -> dict[str, Any]:
    """The fields that describe a document, and other short fields, without pictures."""
    return {
        key: value
        for key, value in values.items()
        if key in DESCRIBED
        or (key not in _PICTURES and isinstance(value, str | int | float) and _is_short(value))
    }


def _is_short(value: str | float) -> bool:
    return not isinstance(value, str) or len(value) <= 2_000


class _Gold:
    """The gold by page. Files are read with their page; lines are kept in memory.

    A file takes precedence over a line. Raises ArchiveFault if the lines are too large.
    """

    def __init__(self, files: SourceFiles) -> None:
        self._files = files
        self._members: dict[str, str] = {}
        self._lines: dict[str, tuple[str, dict[str, Any]]] = {}
        self._faults: list[Refusal] = []
        self._used: set[str] = set()
        for member in files.named(".html", ".htm", ".txt"):
            path = PurePosixPath(member)
            if "gold" in path.parent.name.lower():
                self._members.setdefault(path.stem.removeprefix(_GOLD_PREFIX), member)
        for member in self._members.values():
            files.use(member)
        for member in files.named(".jsonl"):
            if "gold" in PurePosixPath(member).name.lower():
                self._read_lines(member)

    def of(self, name: str) -> dict[str, Any] | Refusal | None:
        """The gold line of a page, a refusal if it is unreadable, or None."""
        self._used.add(name)
        member = self._members.get(name)
        if member is None:
            return self._lines[name][1] if name in self._lines else None
        try:
            return {"id": name, "html": decode_html(self._files.read(member))}
        except (ArchiveFault, RefusedHtml) as fault:
            return refused(printable(member), fault)

    def left_over(self) -> Iterator[Refusal]:
        """Refusals of gold without a page and of unreadable lines."""
        yield from self._faults
        places = {name: where for name, (where, _) in self._lines.items()}
        places |= {name: printable(member) for name, member in self._members.items()}
        for name, where in places.items():
            if name not in self._used:
                yield Refusal(where, "gold_without_page", f"no table has a page {name!r:.60}")

    def _read_lines(self, member: str) -> None:
        """Keeps the lines of a file, whose size is bounded."""
        shown = printable(member)
        lines = bounded_lines(BytesIO(self._files.read(member)), shown, self._files.limits)
        for number, line in lines:
            where = f"{shown}:{number}"
            if not line.strip():
                continue
            try:
                record = _gold_line(line)
            except JsonError as error:
                self._faults.append(Refusal(where, "bad_gold", str(error)))
                continue
            if record["id"] in self._lines:
                first = self._lines[record["id"]][0]
                self._faults.append(Refusal(where, "doubled_gold", f"its id is already in {first}"))
            else:
                self._lines[record["id"]] = (where, record)


def _gold_line(line: bytes) -> dict[str, Any]:
    value = read_object(line)
    name, html = value.get("id"), value.get("html")
    if not isinstance(name, str | int) or not isinstance(html, str):
        raise JsonError("id or html is missing or not a string")
    return {**value, "id": str(name)}


_FAULTS_SHOWN = 3
_ONLY_URL = "the task has no HTML; HTML cannot be loaded from a URL"
_PLAIN_TEXT = (
    "the task is plain text, not HTML; import the text as a .txt file in the format “filing”, and"
    " its labels into a campaign"
)


def read_labelstudio(source: Source, name: str, limits: ArchiveLimits) -> SourceItems:
    """One item per task of all `.json` files, sorted by name; one task in memory at a time.

    Raises ArchiveFault if the source is unusable.
    """
    with open_source(source, name, limits) as files:
        for export in files.needed("no_json", ".json", ".json"):
            with files.open(export) as file:
                yield from _read_export(file, printable(export), limits)


def _read_export(file: IO[bytes], shown: str, limits: ArchiveLimits) -> SourceItems:
    number = 0
    try:
        for number, item in enumerate(json_items(file, shown, limits), start=1):
            where = f"{shown}:task {number}"
            for task in read_tasks([item]):
                if isinstance(task, ReadingError):
                    yield Refusal(where, "bad_task", printable(str(task)))
                else:
                    yield _task_item(where, task)
    except ArchiveFault as fault:
        reason = f"{fault}; the rest was not read"
        yield Refusal(f"{shown}:task {number + 1}", fault.code, printable(reason))


def _task_item(where: str, task: Task) -> SourceItem | Refusal:
    try:
        check_plain(dict(task.data))
        if not task.html:
            raise ItemError("no_html", _PLAIN_TEXT if task.is_plain_text else _ONLY_URL)
        name = item_name(task.name or f"task_{task.id}")
        meta = described({key: task.data[key] for key in DESCRIBED if key in task.data})
    except JsonError as error:
        return Refusal(where, "bad_value", str(error))
    except ItemError as error:
        return refused(where, error)
    record, faults = None, _left_out(where, task)
    chosen = _chosen_annotation(task)
    if chosen is not None:
        html, fault = _task_gold(where, task, chosen)
        record = {"id": name, "html": html} if html else None
        faults += [fault] if fault else []
    return SourceItem(
        where,
        name,
        task.html,
        record=record,
        benchmark=FINCRITICALED,
        meta=meta,
        faults=tuple(faults),
    )


def _kept_annotations(task: Task) -> list[TaskAnnotation]:
    return [annotation for annotation in task.annotations if not annotation.is_cancelled]


def _chosen_annotation(task: Task) -> TaskAnnotation | None:
    """The ground truth, or the only annotation."""
    annotations = _kept_annotations(task)
    gold = [annotation for annotation in annotations if annotation.is_gold]
    if len(gold) == 1:
        return gold[0]
    return annotations[0] if len(annotations) == 1 else None


def _left_out(where: str, task: Task) -> list[Refusal]:
    counted = _kept_annotations(task)
    skipped = len(task.annotations) - len(counted)
    faults = []
    if skipped:
        reason = f"annotations skipped by annotators, not imported: {skipped}"
        faults.append(Refusal(f"{where} skipped", "skipped", reason))
    if len(counted) > 1:
        if _chosen_annotation(task) is None:
            reason = f"{len(counted)} annotations but no single ground truth; no gold imported"
        else:
            reason = f"annotations other than the ground truth, not imported: {len(counted) - 1}"
        faults.append(Refusal(f"{where} annotations", "several_annotations", reason))
    return faults


def _task_gold(where: str, task: Task, chosen: TaskAnnotation) -> tuple[str, Refusal | None]:
    """The page with the annotation's spans as tags; empty with a refusal if one has no place."""
    try:
        canonical = canonicalise(task.html)
        source = SourcePage(task.html)
        placement = place_regions(Page(canonical.html), chosen.regions, KNOWN_LABELS, source)
        spans = [Span(span.start, span.end, span.label) for span in placement.spans]
        html = write_tags(canonical.html, spans)
    except RefusedHtml:
        # The import refuses the page itself, with the same reason.
        return "", None
    except (TagError, ValueError) as error:
        return "", Refusal(f"{where} gold", "gold_not_placed", printable(str(error)))
    if not placement.unplaced:
        return html, None
    count = len(placement.unplaced)
    notes = "; ".join(str(note) for note in placement.unplaced[:_FAULTS_SHOWN])
    reason = f"{count} of {len(chosen.regions)} results could not be placed: {notes}"
    return "", Refusal(f"{where} gold", "gold_not_placed", printable(reason))
