"""Rows of a Parquet file from outside, one by one. Imports pyarrow when it is first used."""

import math
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any
from uuid import UUID

from portal.facts.file_reading import BINARY, PARQUET, TEXT, mistaken
from portal.files.archives import MEGABYTE, ArchiveFault, ArchiveLimits

from .items import ItemError
from .json_values import DEEPEST, JsonError, check_plain
from .layout import Refusal
from .table_rows import MOST_COLUMNS, TableRow, refused

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

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
        with _opened(file, limits) as table:
            for values in _values(table):
                yield _row(f"{name}:row {number + 1}", number, values)
                number += 1
    except ArchiveFault as fault:
        yield Refusal(name, fault.code, f"{name}: {fault}")
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
        reason = f"cannot be read: {error!s:.200}; nothing from here on was read"
        yield Refusal(f"{name}:row {number + 1}", "damaged", reason)


def _opened(file: IO[bytes], limits: ArchiveLimits) -> "ParquetFile":
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


def _values(table: "ParquetFile") -> Iterator[dict[str, Any]]:
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


def _row(where: str, number: int, values: dict[str, Any]) -> TableRow | Refusal:
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
