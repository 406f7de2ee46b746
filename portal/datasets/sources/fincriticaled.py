"""FinCriticalED as published: a CSV or Parquet table, and the gold beside it.

The table has the page's HTML in `matched_html` and its picture, if any, in `image_path`, `image`
or `data.image`: embedded, in base64, or as a path into the source. Published predictions and gold
name a page by its row, counted from 0, so that a row without `id` is named by that number. Gold is
a page with fact tags: `ID.html`, or as published `gold_ID.txt`, in a folder whose name holds
`gold`; or JSON Lines of `{"id", "html"}` in a file whose name does.
"""

from collections.abc import Iterator
from io import BytesIO
from pathlib import PurePosixPath
from typing import IO, Any

from portal.facts import RefusedHtml, decode_html
from portal.files.archives import ArchiveFault, ArchiveLimits

from .csv_rows import read_csv
from .gold import bounded_lines
from .image_paths import PicturePaths
from .items import ItemError, SourceItem, SourceItems, item_name
from .json_values import JsonError, read_object
from .layout import Refusal, printable
from .meta import described
from .opening import Source, SourceFiles, open_source
from .parquet_rows import read_parquet_rows
from .table_rows import TableRow, pictures_of, refused

BENCHMARK = "fincriticaled"
_HTML = "matched_html"
_PICTURES = ("image_path", "image", "data.image")
# pandas writes its index without a name, and reads it back as the second.
_IDS = ("id", "", "Unnamed: 0")
_GOLD_PREFIX = "gold_"
_DESCRIBED = frozenset({"doc_type", "company", "form_type", "fiscal_year", "source_url", "licence"})


def read_fincriticaled(source: Source, name: str, limits: ArchiveLimits) -> SourceItems:
    """The pages of all tables of a source, each with its gold if there is any. Raises ArchiveFault
    when the source as a whole is unusable.
    """
    with open_source(source, name, limits) as files:
        tables = files.named(".csv", ".csv.gz", ".parquet")
        if not tables:
            raise ArchiveFault("no_table", "there is no .csv and no .parquet in it")
        gold = _Gold(files)
        paths = PicturePaths(files)
        for table in tables:
            with files.open(table) as file:
                for row in _rows(file, table, limits):
                    yield row if isinstance(row, Refusal) else _item(row, gold, paths, limits)
        yield from gold.left_over()


def _rows(file: IO[bytes], table: str, limits: ArchiveLimits) -> Iterator[TableRow | Refusal]:
    shown = printable(table)
    if table.lower().endswith(".parquet"):
        return read_parquet_rows(file, shown, limits)
    return read_csv(file, shown, limits)


def _item(
    row: TableRow, gold: "_Gold", paths: PicturePaths, limits: ArchiveLimits
) -> SourceItem | Refusal:
    values = dict(row.values)
    try:
        html = values.pop(_HTML, None)
        if not isinstance(html, str):
            raise ItemError("no_html", f"{_HTML} is missing or not a text")
        if len(html) > limits.member:
            raise ItemError("too_large", f"{_HTML} is longer than allowed")
        given = next((values.pop(key) for key in _IDS if key in values), row.number)
        name = item_name(str(given))
        record = gold.of(name)
        meta = described(_metadata(values))
    except ItemError as error:
        return refused(row.where, error)
    except ValueError as error:
        return Refusal(row.where, "bad_meta", str(error))
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
        row.where, name, html, tuple(pictures), kept, BENCHMARK, meta=meta, faults=tuple(faults)
    )


def _metadata(values: dict[str, Any]) -> dict[str, Any]:
    """The fields that describe a document, and other short ones. Pictures are no metadata."""
    return {
        key: value
        for key, value in values.items()
        if key in _DESCRIBED
        or (key not in _PICTURES and isinstance(value, str | int | float) and _is_short(value))
    }


def _is_short(value: str | float) -> bool:
    return not isinstance(value, str) or len(value) <= 2_000


class _Gold:
    """The gold by page: read when its page comes, but for lines, of which the places are kept.

    A page's own file wins over a line. Raises ArchiveFault when the lines are too large to keep.
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
        """The gold line of a page, why it cannot be read, or None when there is none."""
        self._used.add(name)
        member = self._members.get(name)
        if member is None:
            return self._lines[name][1] if name in self._lines else None
        try:
            return {"id": name, "html": decode_html(self._files.read(member))}
        except ArchiveFault as fault:
            return Refusal(printable(member), fault.code, str(fault))
        except RefusedHtml as fault:
            return Refusal(printable(member), fault.code, fault.reason)

    def left_over(self) -> Iterator[Refusal]:
        """Gold that belongs to no page, and lines that could not be read."""
        yield from self._faults
        places = {name: where for name, (where, _) in self._lines.items()}
        places |= {name: printable(member) for name, member in self._members.items()}
        for name, where in places.items():
            if name not in self._used:
                yield Refusal(where, "gold_without_page", f"no table has a page {name!r:.60}")

    def _read_lines(self, member: str) -> None:
        """Keeps the lines of a file, which is bounded like any that is read whole."""
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
                self._faults.append(Refusal(where, "doubled_gold", f"its id stands in {first}"))
            else:
                self._lines[record["id"]] = (where, record)


def _gold_line(line: bytes) -> dict[str, Any]:
    value = read_object(line)
    name, html = value.get("id"), value.get("html")
    if not isinstance(name, str | int) or not isinstance(html, str):
        raise JsonError("id or html is missing or not a text")
    return {**value, "id": str(name)}
