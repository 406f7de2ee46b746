"""Rows of a CSV file from outside, one by one."""

import csv
from collections.abc import Iterator
from typing import IO

from portal.facts.file_reading import BINARY, TEXT
from portal.files.archives import ArchiveFault, ArchiveLimits

from .gold import bounded_lines
from .layout import Refusal
from .table_rows import MOST_COLUMNS, TableRow

_BOM = b"\xef\xbb\xbf"


def read_csv(file: IO[bytes], name: str, limits: ArchiveLimits) -> Iterator[TableRow | Refusal]:
    """The rows under the header, which is the first line; values are texts, empty ones missing.

    A row is known by the line it begins on. One that cannot be read is refused alone, unless what
    follows cannot be told from it.
    """
    # The standard library keeps one limit for all readers of the process; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), limits.member))
    rows = csv.reader(_texts(file, name, limits), strict=True)
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
                yield _row(where, number, header, values)
    except csv.Error as error:
        reason = f"not CSV: {error}; nothing from here on was read"
        yield Refusal(f"{name}:{line}", "bad_csv", reason)
    except ArchiveFault as fault:
        yield Refusal(f"{name}:{line}", fault.code, f"{fault}; nothing from here on was read")


def _texts(file: IO[bytes], name: str, limits: ArchiveLimits) -> Iterator[str]:
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


def _row(where: str, number: int, header: list[str], values: list[str]) -> TableRow | Refusal:
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
