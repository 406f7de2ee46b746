"""Reads CSV, JSON arrays and Parquet row by row, with bounded memory.

`read_parquet` reads Parquet as on data set hubs: one row per item with embedded pictures, in
columns of `{bytes, path}` or lists of them. Columns known by name are `id` (or `name`,
`image_id`, `file_name`), `html` (or `text_html`, `matched_html`), `prompt` (or `question`),
`language`, and the metadata of a document. All other columns become its gold if a benchmark is
given, otherwise metadata. pyarrow is imported on first use.
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
    DESCRIBED,
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
    refused,
)
from .opening import Refusal, Source, bounded_lines, open_source, printable

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile


MOST_COLUMNS = 1_000
# Pictures per item; published questions have at most about ten.
MOST_PICTURES = 100
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"II*\0", b"MM\0*", b"BM")


@dataclass(frozen=True)
class TableRow:
    """A row: its place, its number from 0, and its non-missing values by column.

    Values are JSON values, bytes, or lists and objects that contain bytes.
    """

    where: str
    number: int
    values: Mapping[str, Any]


def is_picture(value: Any) -> bool:
    """Whether a value is a picture: its bytes, an object `{bytes, path}`, or a list of these."""
    if isinstance(value, list):
        return bool(value) and all(is_picture(part) for part in value)
    if isinstance(value, dict):
        return "bytes" in value and value.keys() <= {"bytes", "path"}
    return isinstance(value, bytes) and value.startswith(_SIGNATURES)


def pictures_of(
    row: TableRow, column: str, paths: PicturePaths, limits: ArchiveLimits
) -> list[PictureFile]:
    """The pictures of a column: embedded, in base64 or as paths into the source.

    Raises ItemError.
    """
    value = row.values[column]
    parts = value if isinstance(value, list) else [value]
    if len(parts) > MOST_PICTURES:
        raise ItemError("too_many", f"{column!r:.60} has more than {MOST_PICTURES} images")
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
            raise ItemError("too_large", "the image is larger than allowed")
        return embedded_picture(where, value)
    if not isinstance(value, str) or not value.strip():
        raise ItemError("no_image", "must be an image or the path of one")
    return picture_from_text(where, value, limits.member) or paths.find(value)


_BOM = b"\xef\xbb\xbf"


def read_csv(file: IO[bytes], name: str, limits: ArchiveLimits) -> Iterator[TableRow | Refusal]:
    """The rows below the header line; values are strings, and empty values are missing.

    A row is named by its first line. An unreadable row is refused and the rest is read, unless the
    end of the row cannot be found.
    """
    # The limit is global in the standard library, so only ever raise it.
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
        reason = f"not CSV: {error}; the rest was not read"
        yield Refusal(f"{name}:{line}", "bad_csv", reason)
    except ArchiveFault as fault:
        yield Refusal(f"{name}:{line}", fault.code, f"{fault}; the rest was not read")


def _csv_texts(file: IO[bytes], name: str, limits: ArchiveLimits) -> Iterator[str]:
    """Lines as text; invalid UTF-8 becomes a surrogate, for which the row is refused later."""
    for number, line in bounded_lines(file, name, limits, taken=(TEXT, BINARY), are_objects=False):
        data = line.removeprefix(_BOM) if number == 1 else line
        yield data.decode("utf-8", "surrogateescape")


def _header_fault(where: str, header: list[str]) -> Refusal | None:
    if len(header) > MOST_COLUMNS:
        return Refusal(where, "bad_csv", f"more than {MOST_COLUMNS} columns")
    if len(set(header)) < len(header):
        return Refusal(where, "bad_csv", "two columns have the same name")
    if any(not _is_text(column) for column in header):
        return Refusal(where, "bad_csv", "the column names are not UTF-8 text")
    return None


def _csv_row(where: str, number: int, header: list[str], values: list[str]) -> TableRow | Refusal:
    if len(values) != len(header):
        reason = f"has {len(values)} values for {len(header)} columns"
        return Refusal(where, "bad_csv", reason)
    for column, value in zip(header, values, strict=True):
        if not _is_text(value):
            return Refusal(where, "encoding", f"{column!r:.60} is not UTF-8 text or contains NUL")
    filled = {
        column: value for column, value in zip(header, values, strict=True) if value.strip() != ""
    }
    return TableRow(where, number, filled)


def _is_text(value: str) -> bool:
    return "\x00" not in value and not any("\ud800" <= c <= "\udfff" for c in value)


_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


def json_items(file: IO[bytes], name: str, limits: ArchiveLimits) -> Iterator[Any]:
    """The items of an array, or a single object as the only item.

    Raises ArchiveFault for invalid JSON and for an item above the size limit.
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
        if reason := mistaken(self._source, {TEXT}, "use JSON in UTF-8"):
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
            raise self._fault("there is text after the end")

    def _next(self) -> str:
        """The next character that is not white space; empty at the end."""
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
            # Doubles the text each time, so that large items are not parsed too often.
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


# Rows in memory at a time. With dictionary encoding, many rows can repeat one large value.
_ROWS = 8
# Bytes; smaller chunks may have any compression ratio, because texts compress well.
_HARMLESS = 10 * MEGABYTE
_BUFFER = 1 * MEGABYTE
# Limits for the file's footer: bytes of a string and elements of a list.
_FOOTER_TEXT = 16 * MEGABYTE
_FOOTER_LIST = 1_000_000


def read_parquet_rows(
    file: IO[bytes], name: str, limits: ArchiveLimits
) -> Iterator[TableRow | Refusal]:
    """The rows in order, named by number from 1. Null values are missing; dates become ISO 8601
    strings and decimals strings.

    Reads in small buffers, so memory does not grow with the file.
    """
    import pyarrow

    if reason := mistaken(file, {PARQUET, TEXT, BINARY}, "use a Parquet file"):
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
        reason = f"cannot be read: {error!s:.200}; the rest was not read"
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
    """The raw rows, one row group at a time, so that a damaged group affects no other."""
    for group in range(table.metadata.num_row_groups):
        for batch in table.iter_batches(batch_size=_ROWS, row_groups=[group]):
            yield from batch.to_pylist()


def _check_sizes(table: "ParquetFile", limits: ArchiveLimits) -> None:
    """Raises ArchiveFault if the unpacked size is too large according to the footer."""
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
                reason = f"the compression ratio is above {limits.ratio}"
                raise ArchiveFault("bomb", reason)
    if total > limits.total:
        raise ArchiveFault("bomb", f"unpacks to more than {limits.total // MEGABYTE} MB")


def _parquet_row(where: str, number: int, values: dict[str, Any]) -> TableRow | Refusal:
    try:
        plain = {key: _plain(value) for key, value in values.items() if value is not None}
        check_plain({key: value for key, value in plain.items() if not isinstance(value, bytes)})
    except JsonError as error:
        return Refusal(where, "bad_value", str(error))
    return TableRow(where, number, {key: v for key, v in plain.items() if v is not None})


def _plain(value: Any, depth: int = 0) -> Any:
    """The value as JSON, with bytes unchanged; NaN and infinity become None."""
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
    raise JsonError(f"values of type {type(value).__name__} are not supported")


_IDS = ("id", "name", "image_id", "file_name")
_HTML = ("html", "text_html", "matched_html")
_PROMPTS = ("prompt", "question")
_LANGUAGE_LENGTH = 12


def read_parquet(
    source: Source, name: str, limits: ArchiveLimits, *, benchmark: str = ""
) -> SourceItems:
    """One item per row of all `.parquet` files, sorted by name.

    Refuses rows without HTML and picture. Raises ArchiveFault if the source is unusable.
    """
    with open_source(source, name, limits) as files:
        tables = files.needed("no_table", ".parquet", ".parquet")
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
            raise ItemError("empty", "has neither html nor an image")
        name = _take_name(row, values)
        prompt = _take_text(values, _PROMPTS) or ""
        language = _take_text(values, ("language",)) or ""
        meta = described({key: values.pop(key) for key in DESCRIBED if key in values})
        _check_rest(values)
    except ItemError as error:
        return refused(row.where, error)
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
    pictures: list[PictureFile] = []
    for column in columns:
        pictures += pictures_of(row, column, paths, limits)
        del values[column]
    if len(pictures) > MOST_PICTURES:
        raise ItemError("too_many", f"more than {MOST_PICTURES} images")
    return pictures


def _take_name(row: TableRow, values: dict[str, Any]) -> str:
    """The id, else the file name of the first picture, else a name from the row's place."""
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
            raise ItemError("bad_value", f"{key!r:.60} has bytes that are not an image")


def _holds_bytes(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_bytes(part) for part in value.values())
    if isinstance(value, list):
        return any(_holds_bytes(part) for part in value)
    return isinstance(value, bytes)
