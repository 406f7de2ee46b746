"""Reading `meta.jsonl`: one JSON object per document, named by its `id`."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.db.models import CharField

from portal.datasets.models.documents import Document, DocumentType, document_name

from .json_values import check_plain, no_number
from .layout import META, Refusal

# No description of one page is longer; what is, is something else.
LINE_LIMIT = 64 * 1024
FIRST_YEAR, LAST_YEAR = 1800, 2200


@dataclass(frozen=True)
class DocumentMeta:
    """What is known of a document beside its content. Any other field went to `metadata`."""

    doc_type: str = DocumentType.OTHER
    company: str = ""
    form_type: str = ""
    fiscal_year: int | None = None
    source_url: str = ""
    licence: str = ""
    metadata: dict[str, Any] | None = None

    def fields(self) -> dict[str, Any]:
        """As keyword arguments of Document."""
        return {
            "doc_type": self.doc_type,
            "company": self.company,
            "form_type": self.form_type,
            "fiscal_year": self.fiscal_year,
            "source_url": self.source_url,
            "licence": self.licence,
            "metadata": self.metadata or {},
        }


class MetaError(ValueError):
    """A line that cannot be taken; the message names file, line and field."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"{META}:{line}: {reason}")
        self.reason = reason


class MetaIndex:
    """The lines by document. They are kept as bytes and read when their page is imported.

    `refusals` lists the lines that belong to no page: unreadable, without id, doubled, or of an
    unknown id.
    """

    def __init__(self, data: bytes, known: set[str]) -> None:
        self._lines: dict[str, tuple[int, bytes]] = {}
        self.refusals: list[Refusal] = []
        for number, line in _lines(data):
            refusal = self._file(number, line, known)
            if refusal:
                code, reason = refusal
                self.refusals.append(Refusal(f"{META}:{number}", code, reason))

    def _file(self, number: int, line: bytes, known: set[str]) -> tuple[str, str] | None:
        """Files one line under its id; the code and reason if it has none of the known."""
        try:
            name = _id_of(_parsed(number, line), number)
        except MetaError as fault:
            return "bad_meta", fault.reason
        if name not in known:
            return "unknown_id", f"there is no page with the id {name}"
        if name in self._lines:
            first = self._lines[name][0]
            return "doubled_meta", f"{name} is described on line {first} already"
        self._lines[name] = (number, line)
        return None

    def of(self, name: str) -> DocumentMeta | None:
        """What the file says of a document, None for nothing; raises MetaError."""
        if name not in self._lines:
            return None
        number, line = self._lines[name]
        return _read_fields(_parsed(number, line), number)


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, numbered from 1; a byte order mark is no part of the first."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if line.strip():
            yield number, line


def _parsed(number: int, line: bytes) -> dict[str, Any]:
    if len(line) > LINE_LIMIT:
        raise MetaError(number, f"longer than {LINE_LIMIT // 1024} kB")
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=no_number)
        check_plain(value)
    except UnicodeDecodeError as error:
        raise MetaError(number, f"not UTF-8 at byte {error.start + 1} of the line") from error
    except RecursionError as error:
        raise MetaError(number, "nested too deeply") from error
    except ValueError as error:
        raise MetaError(number, f"not a JSON object: {error}") from error
    if not isinstance(value, dict):
        raise MetaError(number, "not a JSON object")
    return value


def _id_of(fields: dict[str, Any], number: int) -> str:
    value = fields.get("id")
    if not isinstance(value, str):
        raise MetaError(number, "id: missing, or not a text")
    try:
        return document_name(value)
    except ValueError as error:
        raise MetaError(number, f"id: {error}") from error


def _read_fields(fields: dict[str, Any], number: int) -> DocumentMeta:
    rest = {key: value for key, value in fields.items() if key != "id"}
    try:
        return described(rest)
    except ValueError as error:
        raise MetaError(number, str(error)) from error


def described(fields: dict[str, Any]) -> DocumentMeta:
    """What plain JSON fields say of a document; raises ValueError, which names the field."""
    rest = dict(fields)
    known: dict[str, Any] = {}
    for key, read in _READERS.items():
        value = rest.pop(key, None)
        if value is None or value == "":
            continue
        try:
            known[key] = read(key, value)
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from error
    return DocumentMeta(**known, metadata=rest)


def read_text(key: str, value: Any) -> str:
    """The value of a text column of Document; raises ValueError."""
    if not isinstance(value, str):
        raise ValueError(f"must be a text, not {value!r:.40}")
    column = Document._meta.get_field(key)
    assert isinstance(column, CharField)
    if column.max_length is not None and len(value) > column.max_length:
        raise ValueError(f"at most {column.max_length} characters, this one has {len(value)}")
    return value.strip()


def _read_doc_type(_: str, value: Any) -> str:
    if value not in DocumentType.values:
        raise ValueError(f"{value!r:.60} is none of {', '.join(DocumentType.values)}")
    return str(value)


def _read_year(_: str, value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 4:
        value = int(value)
    if type(value) is not int or not FIRST_YEAR <= value <= LAST_YEAR:
        raise ValueError(f"must be a year such as 2024, not {value!r:.40}")
    return value


def _read_url(key: str, value: Any) -> str:
    url = read_text(key, value)
    # urlsplit itself raises ValueError on a malformed host.
    if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).netloc:
        raise ValueError("must be an address that begins with https:// or http://")
    return url


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "doc_type": _read_doc_type,
    "company": read_text,
    "form_type": read_text,
    "fiscal_year": _read_year,
    "source_url": _read_url,
    "licence": read_text,
}
