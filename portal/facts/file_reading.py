"""Decodes the bytes of a file to a page: its kind, its encoding, and EDGAR's envelope.

The kind of a file is guessed from its first bytes, for error messages or to reject the file.
"""

import codecs
import gzip
import re
import zipfile
import zlib
from collections.abc import Container
from typing import IO, NamedTuple

from .markup import RefusedHtml
from .xhtml import as_html

# The largest header that is checked, that of a tar archive, has 512 bytes.
HEAD = 4096

ZIP, GZIP, PARQUET = "a ZIP archive", "a gzip file", "a Parquet file"
HTML, TEXT = "an HTML or XML page", ""
OFFICE = "an Office document, such as .xlsx or .docx"
BINARY = "a binary file"
UTF_16, UTF_32 = "text in UTF-16", "text in UTF-32"

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", ZIP),
    (b"PK\x05\x06", ZIP),
    (b"\x1f\x8b", GZIP),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\0", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"PAR1", PARQUET),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"{\\rtf", "an RTF document"),
    (codecs.BOM_UTF32_LE, UTF_32),
    (codecs.BOM_UTF32_BE, UTF_32),
    (codecs.BOM_UTF16_LE, UTF_16),
    (codecs.BOM_UTF16_BE, UTF_16),
)
_TAR_AT, _TAR = 257, b"ustar"
_WIDE = {2: UTF_16, 4: UTF_32}
# Control characters except tab, line feed, form feed, return and escape. Text has fewer than one
# in this many characters, compressed data about one in ten.
_CONTROL_SHARE = 20
# Fewer bytes are not checked: a short text may contain one.
_LEAST_BINARY = 64
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\f\r\x1b")
_OFFICE_MEMBER = "[Content_Types].xml"


def kind_of(head: bytes) -> str:
    """Describe the kind of a file that begins with `head`; TEXT for other text.

    >>> kind_of(b"%PDF-1.7"), kind_of('{"id"'.encode("utf-16")), kind_of(b'{"id": "p1"}')
    ('a PDF', 'text in UTF-16', '')
    """
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    if head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return "a tar archive"
    if wide := _wide_text(head):
        return wide
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if len(head) >= _LEAST_BINARY and controls * _CONTROL_SHARE > len(head):
        return BINARY
    bare = head.removeprefix(codecs.BOM_UTF8).lstrip()
    return HTML if bare.startswith(b"<") else TEXT


def kind_of_file(file: IO[bytes]) -> str:
    """Describe the kind of an open file, and rewind it.

    Also looks inside gzip files, and recognises documents that are ZIP files.
    """
    file.seek(0)
    head = file.read(HEAD)
    kind = kind_of(head)
    if kind == GZIP:
        packed = _packed_kind(file)
        kind = f"{packed}, gzipped" if packed else GZIP
    elif kind == ZIP and _is_office(file):
        kind = OFFICE
    file.seek(0)
    return kind


def mistaken(file: IO[bytes], taken: Container[str], accepted: str) -> str:
    """Why a file is rejected by its kind, as a sentence without its name; empty if it is not.

    `taken` are the accepted kinds, TEXT for plain text; `accepted` describes them.
    """
    kind = kind_of_file(file)
    return "" if kind in taken else sentence(kind, accepted)


def sentence(kind: str, accepted: str) -> str:
    """
    >>> sentence("a tar archive", "a ZIP archive is required")
    'looks like a tar archive; a ZIP archive is required'
    """
    return f"looks like {kind}; {accepted}"


_LINES = "JSON Lines has one object per line, without brackets or commas"


def not_lines(first: bytes) -> str:
    """Why a file is not JSON Lines, from its first line with text; empty if it may be.

    >>> not_lines(b"[{")
    'this is a JSON array; JSON Lines has one object per line, without brackets or commas'
    """
    bare = first.removeprefix(codecs.BOM_UTF8).strip()
    if bare.startswith(b"["):
        return f"this is a JSON array; {_LINES}"
    return f"this is a JSON object on several lines; {_LINES}" if bare == b"{" else ""


def _wide_text(head: bytes) -> str:
    """Detects UTF-16 and UTF-32 without a byte-order mark by the NUL bytes of Latin text."""
    for width, kind in sorted(_WIDE.items(), reverse=True):
        whole = head[: len(head) - len(head) % width]
        if len(whole) < 2 * width:
            continue
        for at in (0, width - 1):
            letters = whole[at::width]
            rest = len(whole) - len(letters)
            if letters.isascii() and 0 not in letters and whole.count(0) == rest:
                return kind
    return ""


def _packed_kind(file: IO[bytes]) -> str:
    """The kind of a gzip file's content; TEXT if it cannot be unpacked: the reader reports why."""
    file.seek(0)
    try:
        with gzip.GzipFile(fileobj=file) as packed:
            return kind_of(packed.read(HEAD))
    except (OSError, EOFError, zlib.error):
        return TEXT


def _is_office(file: IO[bytes]) -> bool:
    try:
        with zipfile.ZipFile(file) as bundle:
            return _OFFICE_MEMBER in bundle.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


# Other kinds are rejected at once; for these kinds the decoder reports the error.
_READ = frozenset({TEXT, HTML, BINARY, UTF_16, UTF_32})
_BYTE_ORDER_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# A declaration may follow EDGAR's envelope and some comments.
_DECLARED_WITHIN = 8192
_DECLARATION = re.compile(
    rb"""<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']
      | <meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)""",
    re.IGNORECASE | re.VERBOSE,
)

# Names that browsers read as windows-1252: many pages declare latin-1 and use windows-1252.
_WESTERN = re.compile(
    r"(us-)?ascii|ansi(_x3\.4-1968)?|iso[-_]?8859-1|iso88591|latin-?1|l1|(cp|ibm)819|"
    r"windows-1252|(x-)?cp1252"
)
# Their bytes are all ASCII, so they are valid UTF-8.
_SEVEN_BIT = frozenset({"iso-2022-jp", "csiso2022jp"})
_TEXT_ENCODINGS = re.compile(
    r"iso-?8859-\d+|windows-\d+|cp\d+|koi8-[ru]|macintosh|x-mac-roman|gb2312|gbk|gb18030|"
    r"big5(-hkscs)?|shift[_-]jis|(x-)?sjis|euc-(jp|kr)|ks_c_5601-1987|iso-2022-jp|tis-620"
)
_PYTHON_NAMES = {"x-mac-roman": "mac-roman", "x-sjis": "shift_jis", "gb2312": "gbk"}


def decode_html(data: bytes) -> str:
    """The text of an HTML or plain-text file.

    A byte-order mark decides; then UTF-8 if all bytes are valid UTF-8, even if another encoding is
    declared, since other encodings are almost never valid UTF-8; then the declared encoding
    (latin-1 and ASCII mean windows-1252, as in browsers). Other bytes are rejected, because a wrong
    guess would garble quotes and dashes. Raises RefusedHtml with code `binary`, `encoding` or
    `empty`.
    """
    if not data.strip():
        raise RefusedHtml("the file is empty", "empty")
    if (kind := kind_of(data[:HEAD])) not in _READ:
        raise RefusedHtml(f"this is {kind}, not HTML", "binary")
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decoded(data, encoding).removeprefix("\ufeff")
    if b"\0" in data:
        place = data.index(b"\0")
        raise RefusedHtml(f"byte {place} is NUL: this is a binary file, not HTML", "binary")
    declared = _declared(data)
    if declared not in _SEVEN_BIT:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            if not declared or declared in ("utf-8", "utf8"):
                reason = f"byte {error.start} is not valid UTF-8 and no other encoding is declared"
                raise RefusedHtml(reason, "encoding") from None
    return _decoded(data, _python_encoding(declared))


def _declared(data: bytes) -> str:
    """The first declared encoding in lower case, or an empty string."""
    match = _DECLARATION.search(data, 0, _DECLARED_WITHIN)
    return (match[1] or match[2]).decode("ascii").lower() if match else ""


def _python_encoding(declared: str) -> str:
    if _WESTERN.fullmatch(declared):
        return "cp1252"
    if not _TEXT_ENCODINGS.fullmatch(declared):
        reason = f"the page declares the encoding {declared!r}, which is not supported"
        raise RefusedHtml(reason, "encoding")
    name = _PYTHON_NAMES.get(declared, declared)
    try:
        return codecs.lookup(name).name
    except LookupError:
        reason = f"the page declares the encoding {declared!r}, which is not supported"
        raise RefusedHtml(reason, "encoding") from None


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} is not valid {encoding.upper()}, which the page says it is in"
        raise RefusedHtml(reason, "encoding") from None


_DOCUMENT = re.compile(r"<DOCUMENT>\s*<TYPE>([^\n<]*)", re.IGNORECASE)
_HTML_BEGINS = re.compile(r"<(?:html|body)[\s>]", re.IGNORECASE)
_TEXT = re.compile(r"<TEXT>", re.IGNORECASE)
_TEXT_ENDS = re.compile(r"</TEXT>\s*(?:</DOCUMENT>|\Z)", re.IGNORECASE)


class Envelope(NamedTuple):
    """The document inside the envelope, and a sentence for each part that was left out."""

    content: str
    notes: tuple[str, ...] = ()


def open_envelope(html: str) -> Envelope:
    """Extract the first document of an EDGAR envelope, or the whole input, with XHTML as HTML.

    The first document of a submission is the filing itself. Exhibits and graphics follow, and are
    named in the notes. Raises RefusedHtml if the first document is a PDF, and as `as_html` does.
    """
    envelope = _first_document(html)
    return envelope._replace(content=as_html(envelope.content))


def _first_document(html: str) -> Envelope:
    documents = list(_DOCUMENT.finditer(html))
    if not documents:
        return Envelope(html)
    first = documents[0]
    begins = _HTML_BEGINS.search(html)
    if begins and begins.start() < first.start():
        return Envelope(html)
    limit = documents[1].start() if len(documents) > 1 else len(html)
    text = _TEXT.search(html, first.end(), limit)
    start = text.end() if text else first.end()
    ends = _TEXT_ENDS.search(html, start, limit)
    content = html[start : ends.start() if ends else limit]
    if content.lstrip()[:5].upper() == "<PDF>":
        raise RefusedHtml("the submission's first document is a PDF, not HTML", "binary")
    left_out = [match[1].strip() or "untyped" for match in documents[1:]]
    if not left_out:
        return Envelope(content)
    kept = first[1].strip() or "untyped"
    others = ", ".join(left_out)
    note = f"imported document 1 of {len(documents)} ({kept}); not imported: {others}"
    return Envelope(content, (note,))
