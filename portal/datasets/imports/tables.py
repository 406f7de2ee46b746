"""Tables from outside, row by row: CSV, JSON arrays and Parquet. Memory holds one row at a time.

`read_parquet` reads Parquet as it is common on hubs of data sets: pictures embedded, one row per
item. Pictures are columns of `{bytes, path}`, or of lists of them. These columns are known by
their names: `id` (or `name`, `image_id`, `file_name`), `html` (or `text_html`, `matched_html`),
`prompt` (or `question`), `language`, and what describes a document. All other columns are its
record when a benchmark is named, and else its metadata. pyarrow is imported when it is first
used.
"""

import codecs
import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

from portal.facts.file_reading import BINARY, PARQUET, TEXT, mistaken
from portal.files.archives import MEGABYTE, ArchiveFault, ArchiveLimits

from .items import (
    DEEPEST,
    DocumentMeta,
    ItemError,
    JsonError,
    PictureFile,
    PicturePaths,
    SourceItem,
    SourceItems,
    check_plain,
    described,
    embedded_picture,
    item_name,
    name_from_path,
    picture_from_text,
)
from .opening import Refusal, Source, bounded_lines, open_source, printable

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile


MOST_COLUMNS = 1_000
# Pictures of one item; the questions with the most have about ten.
MOST_PICTURES = 100
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"II*\0", b"MM\0*", b"BM")


@dataclass(frozen=True)
class TableRow:
    """A row: where it stands, its number from 0, and the values that are not missing, by column.

    Values are plain JSON, or bytes, or lists and objects that hold bytes.
    """

    where: str
    number: int
    values: Mapping[str, Any]


def is_picture(value: Any) -> bool:
    """Whether a value holds a picture: bytes of one, an object `{bytes, path}`, or a list of such
    things.
    """
    if isinstance(value, list):
        return bool(value) and all(is_picture(part) for part in value)
    if isinstance(value, dict):
        return "bytes" in value and value.keys() <= {"bytes", "path"}
    return isinstance(value, bytes) and value.startswith(_SIGNATURES)


def pictures_of(
    row: TableRow, column: str, paths: PicturePaths, limits: ArchiveLimits
) -> list[PictureFile]:
    """The pictures of a column: embedded, in base64, or as paths into the source. Raises
    ItemError.
    """
    value = row.values[column]
    parts = value if isinstance(value, list) else [value]
    if len(parts) > MOST_PICTURES:
        raise ItemError("too_many", f"{column!r:.60} holds more than {MOST_PICTURES} pictures")
    several = len(parts) > 1
    return [
        _picture(f"{row.where} {column}{f' {n}' if several else ''}", part, paths, limits)
        for n, part in enumerate(parts, start=1)
    ]


def _picture(where: str, value: Any, paths: PicturePaths, limits: ArchiveLimits) -> PictureFile:
    if isinstance(value, dict):
        data, path = value.get("bytes"), value.get("path")
        value = path if data is None else data
    if isinstance(value, bytes):
        if len(value) > limits.member:
            raise ItemError("too_large", "its picture is larger than allowed")
        return embedded_picture(where, value)
    if not isinstance(value, str) or not value.strip():
        raise ItemError("no_image", "neither a picture nor the path of one")
    return picture_from_text(where, value, limits.member) or paths.find(value)


def refused(where: str, error: ItemError) -> Refusal:
    return Refusal(where, error.code, str(error))


_BOM = b"\xef\xbb\xbf"


def read_csv(file: IO[bytes], name: str, limits: ArchiveLimits) -> Iterator[TableRow | Refusal]:
    """The rows under the header, which is the first line; values are texts, empty ones missing.

    A row is known by the line it begins on. One that cannot be read is refused alone, unless what
    follows cannot be told from it.
    """
    # The standard library keeps one limit for all readers of the process; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), limits.member))
    rows = csv.reader(_csv_texts(file, name, limits), strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for number, values in enumerate(rows, start=-1):
            where, line = f"{name}:{line}", rows.line_num + 1
            if header is None:
                header = values
                if fault := _header_fault(where, header):
                    yield fault
                    return
            elif values:
                yield _csv_row(where, number, header, values)
    except csv.Error as error:
        reason = f"not CSV: {error}; nothing from here on was read"
        yield Refusal(f"{name}:{line}", "bad_csv", reason)
    except ArchiveFault as fault:
        yield Refusal(f"{name}:{line}", fault.code, f"{fault}; nothing from here on was read")


def _csv_texts(file: IO[bytes], name: str, limits: ArchiveLimits) -> Iterator[str]:
    """Lines as text; a byte that is no UTF-8 becomes half a character, for which the row goes."""
    for number, line in bounded_lines(file, name, limits, taken=(TEXT, BINARY)):
        data = line.removeprefix(_BOM) if number == 1 else line
        yield data.decode("utf-8", "surrogateescape")


def _header_fault(where: str, header: list[str]) -> Refusal | None:
    if len(header) > MOST_COLUMNS:
        return Refusal(where, "bad_csv", f"more than {MOST_COLUMNS} columns")
    if len(set(header)) < len(header):
        return Refusal(where, "bad_csv", "two columns have the same name")
    if any(not _is_text(column) for column in header):
        return Refusal(where, "bad_csv", "the names of the columns are not UTF-8 text")
    return None


def _csv_row(where: str, number: int, header: list[str], values: list[str]) -> TableRow | Refusal:
    if len(values) != len(header):
        reason = f"{len(values)} values under {len(header)} columns"
        return Refusal(where, "bad_csv", reason)
    for column, value in zip(header, values, strict=True):
        if not _is_text(value):
            return Refusal(where, "encoding", f"{column!r:.60} is not UTF-8 text, or holds a NUL")
    filled = {
        column: value for column, value in zip(header, values, strict=True) if value.strip() != ""
    }
    return TableRow(where, number, filled)


def _is_text(value: str) -> bool:
    return "\x00" not in value and not any("\ud800" <= c <= "\udfff" for c in value)


_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


def json_items(file: IO[bytes], name: str, limits: ArchiveLimits) -> Iterator[Any]:
    """The items of an array, or a single object as if it were the only item.

    Raises ArchiveFault for what is no JSON, and for an item larger than the limit.
    """
    yield from _ArrayReader(file, name, limits).items()


class _ArrayReader:
    def __init__(self, file: IO[bytes], name: str, limits: ArchiveLimits) -> None:
        self._source = file
        self._file = codecs.getreader("utf-8-sig")(file)
        self._name = name
        self._limit = limits.member
        self._text = ""
        self._is_whole = False
        self._items = 0

    def items(self) -> Iterator[Any]:
        if reason := mistaken(self._source, {TEXT}, "JSON in UTF-8 is accepted"):
            raise ArchiveFault("file_kind", f"{self._name}: {reason}")
        first = self._next()
        if first == "{":
            yield self._item()
        elif first == "[":
            self._text = self._text[1:]
            if self._next() != "]":
                yield self._item()
                while self._next() == ",":
                    self._text = self._text[1:]
                    yield self._item()
                if self._next() != "]":
                    raise self._fault("a comma or the end of the list is missing")
            self._text = self._text[1:]
        else:
            raise self._fault("it must begin with a list or an object")
        if self._next():
            raise self._fault("something follows its end")

    def _next(self) -> str:
        """The next character that is no white space; empty at the end."""
        self._text = self._text.lstrip(_SPACE)
        while not self._text and not self._is_whole:
            self._read(MEGABYTE)
            self._text = self._text.lstrip(_SPACE)
        return self._text[:1]

    def _item(self) -> Any:
        self._next()
        while True:
            try:
                item, end = _DECODER.raw_decode(self._text)
            except json.JSONDecodeError as error:
                if self._is_whole:
                    raise self._fault(error.msg) from error
            except (RecursionError, ValueError) as error:
                raise self._fault(str(error)) from error
            else:
                self._text = self._text[end:]
                self._items += 1
                return item
            if len(self._text) > self._limit:
                message = f"{self._name}: item {self._items + 1} is larger than allowed"
                raise ArchiveFault("too_large", message)
            # Twice as much each time, so that a large item is not gone over again and again.
            self._read(max(MEGABYTE, len(self._text)))

    def _read(self, size: int) -> None:
        try:
            piece = self._file.read(size)
        except UnicodeDecodeError as error:
            raise self._fault("it is not UTF-8") from error
        self._text += piece
        self._is_whole = not piece

    def _fault(self, reason: str) -> ArchiveFault:
        where = f"{self._name}: item {self._items + 1}"
        return ArchiveFault("not_json", f"{where}: not JSON: {reason}")


# Rows in memory at a time. A dictionary can repeat one large value in many rows for nothing.
_ROWS = 8
# Below this a ratio of compression says nothing; texts compress well.
_HARMLESS = 10 * MEGABYTE
_BUFFER = 1 * MEGABYTE
# What the file's footer may claim of itself: bytes of one text, and elements of one list.
_FOOTER_TEXT = 16 * MEGABYTE
_FOOTER_LIST = 1_000_000


def read_parquet_rows(
    file: IO[bytes], name: str, limits: ArchiveLimits
) -> Iterator[TableRow | Refusal]:
    """The rows in their order, known by their number from 1. Values that are null are missing;
    dates are ISO 8601, decimals texts.

    Read column by column in small buffers, so that memory does not grow with the file.
    """
    import pyarrow

    if reason := mistaken(file, {PARQUET, TEXT, BINARY}, "a Parquet file is accepted"):
        yield Refusal(name, "file_kind", f"{name}: {reason}")
        return
    number = 0
    try:
        with _opened_parquet(file, limits) as table:
            for values in _parquet_values(table):
                yield _parquet_row(f"{name}:row {number + 1}", number, values)
                number += 1
    except ArchiveFault as fault:
        yield Refusal(name, fault.code, f"{name}: {fault}")
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        reason = f"cannot be read: {error!s:.200}; nothing from here on was read"
        yield Refusal(f"{name}:row {number + 1}", "damaged", reason)


def _opened_parquet(file: IO[bytes], limits: ArchiveLimits) -> "ParquetFile":
    from pyarrow.parquet import ParquetFile

    table = ParquetFile(
        file,
        buffer_size=_BUFFER,
        pre_buffer=False,
        thrift_string_size_limit=_FOOTER_TEXT,
        thrift_container_size_limit=_FOOTER_LIST,
    )
    _check_sizes(table, limits)
    return table


def _parquet_values(table: "ParquetFile") -> Iterator[dict[str, Any]]:
    """The rows as they are stored. A group at a time, so that damage in one costs no row of
    another.
    """
    for group in range(table.metadata.num_row_groups):
        for batch in table.iter_batches(batch_size=_ROWS, row_groups=[group]):
            yield from batch.to_pylist()


def _check_sizes(table: "ParquetFile", limits: ArchiveLimits) -> None:
    """Raises ArchiveFault for what claims to unpack to too much."""
    footer = table.metadata
    if footer.num_columns > MOST_COLUMNS:
        raise ArchiveFault("bomb", f"more than {MOST_COLUMNS} columns")
    total = 0
    for group in range(footer.num_row_groups):
        for column in range(footer.num_columns):
            chunk = footer.row_group(group).column(column)
            total += chunk.total_uncompressed_size
            most = max(_HARMLESS, chunk.total_compressed_size * limits.ratio)
            if chunk.total_uncompressed_size > most:
                reason = f"compressed more than {limits.ratio} times; refused as a bomb"
                raise ArchiveFault("bomb", reason)
    if total > limits.total:
        raise ArchiveFault("bomb", f"unpacks to more than {limits.total // MEGABYTE} MB")


def _parquet_row(where: str, number: int, values: dict[str, Any]) -> TableRow | Refusal:
    try:
        plain = {key: _plain(value) for key, value in values.items() if value is not None}
        check_plain({key: value for key, value in plain.items() if not isinstance(value, bytes)})
    except JsonError as error:
        return refused(where, ItemError("bad_value", str(error)))
    return TableRow(where, number, {key: v for key, v in plain.items() if v is not None})


def _plain(value: Any, depth: int = 0) -> Any:
    """A value as JSON has it; bytes stay. What is not a number (NaN) is missing."""
    if depth > DEEPEST:
        raise JsonError(f"nested more than {DEEPEST} deep")
    if isinstance(value, dict):
        return {str(key): _plain(part, depth + 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, depth + 1) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal | UUID | timedelta):
        return str(value)
    if value is None or isinstance(value, str | int | float | bool | bytes):
        return value
    raise JsonError(f"a value of the kind {type(value).__name__} is not read")


_IDS = ("id", "name", "image_id", "file_name")
_HTML = ("html", "text_html", "matched_html")
_PROMPTS = ("prompt", "question")
_DESCRIBED = ("doc_type", "company", "form_type", "fiscal_year", "source_url", "licence")
_LANGUAGE_LENGTH = 12


def read_parquet(
    source: Source, name: str, limits: ArchiveLimits, *, benchmark: str = ""
) -> SourceItems:
    """One item per row of all `.parquet` files, in the order of their names. A row without html
    and without picture is refused. Raises ArchiveFault when the source as a whole is unusable.
    """
    with open_source(source, name, limits) as files:
        tables = files.named(".parquet")
        if not tables:
            raise ArchiveFault("no_table", "there is no .parquet in it")
        paths = PicturePaths(files)
        for table in tables:
            with files.open(table) as file:
                for row in read_parquet_rows(file, printable(table), limits):
                    yield (
                        row
                        if isinstance(row, Refusal)
                        else _parquet_item(row, paths, limits, benchmark)
                    )


def _parquet_item(
    row: TableRow, paths: PicturePaths, limits: ArchiveLimits, benchmark: str
) -> SourceItem | Refusal:
    values = dict(row.values)
    try:
        pictures = _take_pictures(row, values, paths, limits)
        html = _take_text(values, _HTML)
        if html is None and not pictures:
            raise ItemError("empty", "it has neither html nor a picture")
        name = _take_name(row, values)
        prompt = _take_text(values, _PROMPTS) or ""
        language = _take_text(values, ("language",)) or ""
        meta = described({key: values.pop(key) for key in _DESCRIBED if key in values})
        _check_rest(values)
    except ItemError as error:
        return refused(row.where, error)
    except ValueError as error:
        return Refusal(row.where, "bad_meta", str(error))
    if len(language) > _LANGUAGE_LENGTH:
        values["language"], language = language, ""
    record = {"id": name, **values} if benchmark else None
    if record is None:
        meta = DocumentMeta(**{**meta.fields(), "metadata": values})
    return SourceItem(
        row.where, name, html, tuple(pictures), record, benchmark, prompt, language, meta
    )


def _take_pictures(
    row: TableRow, values: dict[str, Any], paths: PicturePaths, limits: ArchiveLimits
) -> Sequence[PictureFile]:
    columns = [key for key, value in values.items() if is_picture(value)]
    found: list[PictureFile] = []
    for column in columns:
        found += pictures_of(row, column, paths, limits)
        del values[column]
    if len(found) > MOST_PICTURES:
        raise ItemError("too_many", f"more than {MOST_PICTURES} pictures")
    return found


def _take_name(row: TableRow, values: dict[str, Any]) -> str:
    """The id, else the name of the first picture's file, else the row's own place."""
    for key in _IDS:
        if isinstance(values.get(key), str | int):
            return item_name(str(values.pop(key)))
    for value in row.values.values():
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, dict) and is_picture(first) and isinstance(first.get("path"), str):
            return name_from_path(first["path"])
    table = name_from_path(row.where.rpartition(":")[0])
    return item_name(f"{table}_r{row.number + 1:06d}")


def _take_text(values: dict[str, Any], keys: Sequence[str]) -> str | None:
    for key in keys:
        if isinstance(values.get(key), str):
            return str(values.pop(key))
    return None


def _check_rest(values: dict[str, Any]) -> None:
    for key, value in values.items():
        if _holds_bytes(value):
            raise ItemError("bad_value", f"{key!r:.60} holds bytes that are no picture")


def _holds_bytes(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_bytes(part) for part in value.values())
    if isinstance(value, list):
        return any(_holds_bytes(part) for part in value)
    return isinstance(value, bytes)
