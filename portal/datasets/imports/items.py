"""The items that the readers of imports yield, with their metadata, pictures and JSON.

JSON is read more strictly than by Python. `MetaIndex` reads `meta.jsonl`: one JSON object per
document, with its `id`. `PicturePaths` finds the pictures that a table or line refers to.
"""

import base64
import binascii
import json
import math
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, NoReturn
from urllib.parse import urlsplit

from django.db.models import CharField

from portal.datasets.imaging.pictures import PictureError
from portal.datasets.models.documents import NAME_LENGTH, Document, DocumentType, document_name
from portal.facts import RefusedHtml
from portal.facts.file_reading import not_lines
from portal.facts.xbrl import XbrlResources
from portal.files.archives import ArchiveFault
from portal.files.member_names import plain_name

from .opening import META, Refusal, SourceFiles, printable

# Levels of nested lists and objects; the deepest published gold has about ten.
DEEPEST = 100


class ItemError(ValueError):
    """An item is refused, with the reason and a stable code. Its reader adds the place."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class JsonError(ItemError):
    """The bytes are not acceptable JSON; `line` counts from 1."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__("bad_json", reason)
        self.line = line


def refused(where: str, error: ItemError | ArchiveFault | RefusedHtml | PictureError) -> Refusal:
    return Refusal(where, error.code, str(error))


def unreadable(member: str, error: JsonError | ArchiveFault) -> Refusal:
    """The refusal of a whole file, at the line of a JSON error."""
    where = printable(member)
    return refused(f"{where}:{error.line}" if isinstance(error, JsonError) else where, error)


def read_json(data: bytes) -> Any:
    """Parses UTF-8 JSON; ignores a byte order mark.

    Refuses values that a database cannot store: NUL, surrogates, numbers beyond floating point,
    more than DEEPEST levels. Also refuses NaN and duplicate keys. Raises JsonError.
    """
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise JsonError(f"not UTF-8 at byte {error.start + 1}", line) from error
    try:
        value = json.loads(text, parse_constant=no_number, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        # Some messages of Python end in "at".
        reason = f"not JSON: {error.msg.removesuffix(' at')} at column {error.colno}"
        raise JsonError(reason, error.lineno) from error
    except RecursionError as error:
        raise JsonError(f"nested more than {DEEPEST} deep") from error
    except JsonError:
        raise
    except ValueError as error:
        # Python refuses integers with more than 4,300 digits.
        raise JsonError("a number has too many digits") from error
    check_plain(value)
    return value


def read_object(data: bytes) -> dict[str, Any]:
    """Parses a JSON object. Raises JsonError."""
    value = read_json(data)
    if not isinstance(value, dict):
        raise JsonError("must be a JSON object")
    return value


def check_plain(value: Any) -> None:
    """Raises JsonError for a value that a database cannot store. Works without recursion."""
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
            raise JsonError("a string contains NUL or a surrogate")
    elif isinstance(node, float) and not math.isfinite(node):
        raise JsonError("a number is too large")


def no_number(name: str) -> NoReturn:
    raise JsonError(f"{name} is not a JSON number")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise JsonError("an object has a duplicate key")
    return value


# Bytes; no description of a page is longer.
LINE_LIMIT = 64 * 1024
FIRST_YEAR, LAST_YEAR = 1800, 2200


@dataclass(frozen=True)
class DocumentMeta:
    """The metadata of a document; `metadata` holds all other fields."""

    doc_type: str = DocumentType.OTHER
    company: str = ""
    form_type: str = ""
    fiscal_year: int | None = None
    source_url: str = ""
    licence: str = ""
    metadata: dict[str, Any] | None = None

    def fields(self) -> dict[str, Any]:
        """The keyword arguments of Document."""
        return {**vars(self), "metadata": self.metadata or {}}


class MetaError(ItemError):
    """A faulty line; the message names file, line and field."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__("bad_meta", f"{META}:{line}: {reason}")
        self.reason = reason


class MetaIndex:
    """The lines by document, kept as bytes and parsed when their page is imported.

    `refusals` lists lines that are unreadable, have no id, an unknown id or one used before.
    """

    def __init__(self, data: bytes, known: set[str]) -> None:
        self._lines: dict[str, tuple[int, bytes]] = {}
        self.refusals: list[Refusal] = []
        for number, line in _lines(data):
            is_first = not self._lines and not self.refusals
            if is_first and (reason := not_lines(line)):
                self.refusals.append(Refusal(f"{META}:{number}", "not_lines", reason))
                return
            refusal = self._file(number, line, known)
            if refusal:
                code, reason = refusal
                self.refusals.append(Refusal(f"{META}:{number}", code, reason))

    def _file(self, number: int, line: bytes, known: set[str]) -> tuple[str, str] | None:
        """Adds one line under its id; returns code and reason if it is refused."""
        try:
            name = _id_of(_parsed(number, line), number)
        except MetaError as fault:
            return "bad_meta", fault.reason
        if name not in known:
            return "unknown_id", f"there is no document with the ID {name}"
        if name in self._lines:
            first = self._lines[name][0]
            return "doubled_meta", f"{name} is already described on line {first}"
        self._lines[name] = (number, line)
        return None

    def of(self, name: str) -> DocumentMeta | None:
        """The metadata of a document; None if it has no line. Raises MetaError."""
        if name not in self._lines:
            return None
        number, line = self._lines[name]
        return _read_fields(_parsed(number, line), number)


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Non-blank lines, numbered from 1; ignores a byte order mark."""
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
        raise MetaError(number, "must be a JSON object")
    return value


def _id_of(fields: dict[str, Any], number: int) -> str:
    value = fields.get("id")
    if not isinstance(value, str):
        raise MetaError(number, "id: missing or not a string")
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
    """The metadata in JSON fields; raises ItemError, naming the field."""
    rest = dict(fields)
    known: dict[str, Any] = {}
    for key, read in _READERS.items():
        value = rest.pop(key, None)
        if value is None or value == "":
            continue
        try:
            known[key] = read(key, value)
        except ValueError as error:
            raise ItemError("bad_meta", f"{key}: {error}") from error
    return DocumentMeta(**known, metadata=rest)


def read_text(key: str, value: Any) -> str:
    """The value of a text column of Document; raises ValueError."""
    if not isinstance(value, str):
        raise ValueError(f"must be a string, not {value!r:.40}")
    column = Document._meta.get_field(key)
    assert isinstance(column, CharField)
    if column.max_length is not None and len(value) > column.max_length:
        raise ValueError(f"must have at most {column.max_length} characters, not {len(value)}")
    return value.strip()


def _read_doc_type(_: str, value: Any) -> str:
    if value not in DocumentType.values:
        raise ValueError(f"must be one of {', '.join(DocumentType.values)}, not {value!r:.60}")
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
        raise ValueError("must be a URL that begins with https:// or http://")
    return url


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "doc_type": _read_doc_type,
    "company": read_text,
    "form_type": read_text,
    "fiscal_year": _read_year,
    "source_url": _read_url,
    "licence": read_text,
}
# The fields of a source that describe a document.
DESCRIBED = tuple(_READERS)


@dataclass(frozen=True)
class PictureFile:
    """A picture of an item, read lazily.

    `shown` is its name in reports. `read` returns the unchecked bytes and raises ArchiveFault; call
    it before the iterator that yielded the item is exhausted.
    """

    shown: str
    read: Callable[[], bytes] = field(repr=False)


@dataclass(frozen=True)
class SourceItem:
    """An item of a source that can become a document.

    `where`: its place in the source, unique in the import: `FILE`, `FILE:LINE`, `FILE:row N` or
    `FILE:page N`. `html`: the raw page, None for a picture. `record`: the raw gold line of
    `benchmark`. `prompt`: the prompt of the model. `language`: a BCP 47 tag or empty. `faults`:
    errors that do not refuse the item. `xbrl`: the resources of the whole filing, for
    `read_xbrl_details`; None without inline XBRL.
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


# A generator, so that a caller that stops early can close its files.
SourceItems = Generator[SourceItem | Refusal, None, None]


def place_of(item: SourceItem | Refusal) -> str:
    """The place of an item or refusal in its source, unique in the import."""
    return item.name if isinstance(item, Refusal) else item.where


def item_name(text: str) -> str:
    """The document name for an id of the source; raises ItemError."""
    try:
        return document_name(text)
    except ValueError as error:
        raise ItemError("bad_name", str(error)) from error


def name_from_path(path: str) -> str:
    """A document name from a file path: replaces forbidden characters by `_` and truncates.

    >>> name_from_path("2024/a:b?.htm")
    'a_b_'
    """
    stem = printable(PurePosixPath(path).stem)
    plain = "".join("_" if c in '\\/:*?"<>|' else c for c in stem).strip(". ")
    return document_name(plain[:NAME_LENGTH].rstrip(". ") or "unnamed")


PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif")
_SHOWN = 100
# The maximum number of path components that are compared.
_DEEPEST = 12


class PicturePaths:
    """The pictures of a source by path.

    Published paths often start with other folders than the source has. A path therefore matches the
    file with the longest common end, which must include the whole file name.
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

    def find(self, path: str, *, folder: str = "") -> PictureFile:
        """The picture with a `path` relative to `folder`; its extension is optional.

        Raises ItemError if there is none or if several match equally well.
        """
        plain = _plain(path)
        if not plain or ".." in plain.split("/"):
            raise ItemError("no_image", f"{shown(path)} is not the path of an image")
        ends = _ends(f"{_plain(folder)}/{plain}".strip("/").split("/"))
        matches = next((self._by_end[end] for end in reversed(ends) if end in self._by_end), [])
        if not matches:
            raise ItemError("no_image", f"there is no image {shown(path)}")
        if len(matches) > 1:
            reason = f"{shown(path)} matches {shown(matches[0])} and {shown(matches[1])}"
            raise ItemError("several_images", reason)
        return self.file(matches[0])

    def at(self, path: str, *, folder: str) -> PictureFile | None:
        """The picture with exactly this `path` relative to `folder`, but for its extension; None if
        there is none, or several."""
        whole = _plain(f"{folder}/{path}").strip("/")
        matches = [name for name in self._by_end[whole] if _plain(name).rpartition(".")[0] == whole]
        return self.file(matches[0]) if len(matches) == 1 else None

    def file(self, name: str) -> PictureFile:
        """The picture with exactly this name."""
        files = self._files
        files.use(name)
        return PictureFile(printable(name), lambda: files.read(name))


def embedded_picture(where: str, data: bytes) -> PictureFile:
    """A picture embedded in a table."""
    return PictureFile(where, lambda: data)


def picture_from_text(where: str, text: str, limit: int) -> PictureFile | None:
    """A base64 picture, optionally with the prefix `data:image/…;base64,`; None for a path.

    Raises ItemError if it is too large. It is decoded lazily to save memory.
    """
    head, comma, rest = text.partition(",")
    is_data = head.startswith("data:") and comma == ","
    # Paths are shorter and end in an extension.
    if not is_data and (len(text) < 300 or text.lower().endswith(PICTURE_SUFFIXES)):
        return None
    packed = rest if is_data else text
    if len(packed) > limit:
        raise ItemError("too_large", "the image is larger than allowed")

    def read() -> bytes:
        try:
            return base64.b64decode("".join(packed.split()), validate=True)
        except (binascii.Error, ValueError) as error:
            raise ArchiveFault("image_broken", f"{where}: the image is not base64") from error

    return PictureFile(where, read)


def shown(path: str) -> str:
    """A path for messages, printable and truncated."""
    plain = printable(path)
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"


def _plain(path: str) -> str:
    """The path with forward slashes in Unicode form NFC, as the names of files are."""
    return plain_name(path.strip().replace("\\", "/")).removeprefix("./")


def _ends(parts: list[str]) -> list[str]:
    """The last part, the last two parts and so on, up to _DEEPEST.

    >>> _ends(["a", "b", "c.png"])
    ['c.png', 'b/c.png', 'a/b/c.png']
    """
    deepest = min(len(parts), _DEEPEST)
    return ["/".join(parts[-count:]) for count in range(1, deepest + 1)]
