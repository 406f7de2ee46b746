"""What every reader of an import gives: items with what is known of them, and refusals one by one.

JSON from outside is read more strictly than Python reads it. `MetaIndex` reads `meta.jsonl`: one
JSON object per document, named by its `id`. `PicturePaths` finds the picture that a table or a
line names, wherever the source keeps it.
"""

import base64
import binascii
import json
import math
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, NoReturn
from urllib.parse import urlsplit

from django.db.models import CharField

from portal.datasets.models.documents import NAME_LENGTH, Document, DocumentType, document_name
from portal.facts.xbrl import XbrlResources
from portal.files.archives import ArchiveFault

from .opening import META, Refusal, SourceFiles, printable

# Lists and objects inside each other; the deepest published gold has about ten.
DEEPEST = 100


class JsonError(ValueError):
    """Bytes that are no JSON we take; `line` counts from 1 within them."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__(reason)
        self.line = line


def read_json(data: bytes) -> Any:
    """The value that UTF-8 bytes spell; a byte order mark is no part of it.

    Refuses what JSON can spell and a database cannot keep: NUL, half characters, numbers beyond
    floating point, more than DEEPEST levels; and NaN, and a key that stands twice in an object.
    Raises JsonError.
    """
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise JsonError(f"not UTF-8 at byte {error.start + 1}", line) from error
    try:
        value = json.loads(text, parse_constant=no_number, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        # Some of Python's messages end in the word that comes next.
        reason = f"not JSON: {error.msg.removesuffix(' at')} at column {error.colno}"
        raise JsonError(reason, error.lineno) from error
    except RecursionError as error:
        raise JsonError(f"nested more than {DEEPEST} deep") from error
    except JsonError:
        raise
    except ValueError as error:
        # Python refuses whole numbers of more than 4,300 digits.
        raise JsonError("a number has too many digits") from error
    check_plain(value)
    return value


def read_object(data: bytes) -> dict[str, Any]:
    """The JSON object that the bytes spell. Raises JsonError."""
    value = read_json(data)
    if not isinstance(value, dict):
        raise JsonError("not a JSON object")
    return value


def check_plain(value: Any) -> None:
    """Raises JsonError for what a database cannot keep. Level by level, so it needs no stack."""
    level, depth = [value], 0
    while level:
        if depth == DEEPEST and any(isinstance(node, dict | list) for node in level):
            raise JsonError(f"nested more than {DEEPEST} deep")
        following: list[Any] = []
        for node in level:
            if isinstance(node, dict):
                following += [*node.keys(), *node.values()]
            elif isinstance(node, list):
                following += node
            else:
                _check_scalar(node)
        level, depth = following, depth + 1


def _check_scalar(node: Any) -> None:
    if isinstance(node, str):
        if "\x00" in node or any("\ud800" <= c <= "\udfff" for c in node):
            raise JsonError("a text contains a NUL or half a character")
    elif isinstance(node, float) and not math.isfinite(node):
        raise JsonError("a number is too large")


def no_number(name: str) -> NoReturn:
    raise JsonError(f"{name} is no JSON number")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise JsonError("a key stands twice in one object")
    return value


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


@dataclass(frozen=True)
class PictureFile:
    """A picture of an item that is not read before it is asked for.

    `shown` is how reports call it. `read` gives the bytes as they came, unchecked, as long as the
    iterator its item came from is not at its end, and raises ArchiveFault.
    """

    shown: str
    read: Callable[[], bytes] = field(repr=False)


@dataclass(frozen=True)
class SourceItem:
    """Something that can become a document.

    `where` is its place in the source, which no other item or refusal of an import has: `FILE`,
    `FILE:LINE`, `FILE:row N` or `FILE:page N`. `html` is the page as it came, not canonical, or
    None for a picture. `record` is the line of gold of the benchmark with the key `benchmark`, as
    it came, and `prompt` what a model is asked. `language` is a tag of BCP 47 or empty. `faults`
    are what was wrong about it and refuses nothing. `xbrl` is what the whole filing of a page
    keeps apart from it, for `read_xbrl_details`; None if it has no inline XBRL.
    """

    where: str
    name: str
    html: str | None = None
    pictures: tuple[PictureFile, ...] = ()
    record: dict[str, Any] | None = None
    benchmark: str = ""
    prompt: str = ""
    language: str = ""
    meta: DocumentMeta = field(default_factory=DocumentMeta)
    faults: tuple[Refusal, ...] = ()
    xbrl: XbrlResources | None = None


# A generator, so that who stops early can close what it has open.
SourceItems = Generator[SourceItem | Refusal, None, None]


def place_of(item: SourceItem | Refusal) -> str:
    """Where an item or a refusal stands in its source, unlike any other of the same import."""
    return item.name if isinstance(item, Refusal) else item.where


class ItemError(ValueError):
    """Why one item cannot be taken, with a code for programs. Its reader names the place."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def item_name(text: str) -> str:
    """The document's name that an id of the source spells; raises ItemError."""
    try:
        return document_name(text)
    except ValueError as error:
        raise ItemError("bad_name", str(error)) from error


def name_from_path(path: str) -> str:
    """A name from a file's: what no name may hold becomes `_`, and it is cut to length.

    >>> name_from_path("2024/a:b?.htm")
    'a_b_'
    """
    stem = printable(PurePosixPath(path).stem)
    plain = "".join("_" if c in '\\/:*?"<>|' else c for c in stem).strip(". ")
    return document_name(plain[:NAME_LENGTH].rstrip(". ") or "unnamed")


PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif")
_SHOWN = 100
# Folders inside each other that are compared.
_DEEPEST = 12


class PicturePaths:
    """The pictures of a source by their paths.

    A path as published often begins with a folder of its authors' machines or lacks one of ours:
    the longest common end decides, and it must be the file's whole name at least.
    """

    def __init__(self, files: SourceFiles) -> None:
        self._files = files
        self._by_end: dict[str, list[str]] = defaultdict(list)
        for name in files.named(*PICTURE_SUFFIXES):
            plain = _plain(name)
            for end in _ends(plain.split("/")):
                self._by_end[end].append(name)
            for end in _ends(plain.rpartition(".")[0].split("/")):
                self._by_end[end].append(name)

    def find(self, path: str, *, beside: str = "") -> PictureFile:
        """The picture that `path` names, seen from the folder `beside`; its suffix may be left
        out. Raises ItemError if there is none, or if several fit equally well.
        """
        plain = _plain(path)
        if not plain or ".." in plain.split("/"):
            raise ItemError("no_image", f"{shown(path)} is not the path of a picture")
        ends = _ends(f"{_plain(beside)}/{plain}".strip("/").split("/"))
        found = next((self._by_end[end] for end in reversed(ends) if end in self._by_end), [])
        if not found:
            raise ItemError("no_image", f"there is no picture {shown(path)}")
        if len(found) > 1:
            reason = f"{shown(path)} may be {shown(found[0])} or {shown(found[1])}"
            raise ItemError("several_images", reason)
        return self.file(found[0])

    def file(self, name: str) -> PictureFile:
        """The picture of the source with exactly this name."""
        files = self._files
        files.use(name)
        return PictureFile(printable(name), lambda: files.read(name))


def embedded_picture(where: str, data: bytes) -> PictureFile:
    """A picture that came inside a table."""
    return PictureFile(where, lambda: data)


def picture_from_text(where: str, text: str, limit: int) -> PictureFile | None:
    """The picture that a text holds in base64, with or without `data:image/…;base64,` before it;
    None for a text that is rather a path. Raises ItemError if it is too large or damaged.

    It is decoded when it is read, so that a table of many costs no more than its text.
    """
    head, comma, rest = text.partition(",")
    is_data = head.startswith("data:") and comma == ","
    # No path is as long, and one ends in a suffix.
    if not is_data and (len(text) < 300 or text.lower().endswith(PICTURE_SUFFIXES)):
        return None
    packed = rest if is_data else text
    if len(packed) > limit:
        raise ItemError("too_large", "its picture is larger than allowed")

    def read() -> bytes:
        try:
            return base64.b64decode("".join(packed.split()), validate=True)
        except (binascii.Error, ValueError) as error:
            raise ArchiveFault("image_broken", f"{where}: the picture is no base64") from error

    return PictureFile(where, read)


def shown(path: str) -> str:
    """A path as messages have it."""
    plain = printable(path)
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"


def _plain(path: str) -> str:
    """With forward slashes, and composed: ZIPs of some systems keep accents apart."""
    return unicodedata.normalize("NFC", path.strip().replace("\\", "/")).removeprefix("./")


def _ends(parts: list[str]) -> list[str]:
    """The last part, the last two and so on, up to _DEEPEST.

    >>> _ends(["a", "b", "c.png"])
    ['c.png', 'b/c.png', 'a/b/c.png']
    """
    deepest = min(len(parts), _DEEPEST)
    return ["/".join(parts[-count:]) for count in range(1, deepest + 1)]
