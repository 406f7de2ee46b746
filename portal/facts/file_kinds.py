"""What a file seems to be by its first bytes, for files that are not what they should be.

Everything here is a guess for the wording of a refusal, or reason enough for one. Nothing is
parsed.
"""

import codecs
import gzip
import zipfile
import zlib
from collections.abc import Container
from typing import IO

# The header of a tar archive, the largest thing that is looked at, takes 512 bytes.
HEAD = 4096

ZIP, GZIP, PARQUET = "a ZIP archive", "a gzip file", "a Parquet file"
HTML, TEXT = "an HTML or XML page", ""
OFFICE = "an Office document, such as .xlsx or .docx"
BINARY = "a binary file"
UTF_16, UTF_32 = "text in UTF-16", "text in UTF-32"

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF87a", "a GIF picture"),
    (b"GIF89a", "a GIF picture"),
    (b"II*\0", "a TIFF picture"),
    (b"MM\0*", "a TIFF picture"),
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
# Control characters but for tab, line feed, form feed, return and escape: of a text they are not
# even one in so many, of packed bytes one in ten.
_CONTROL_SHARE = 20
# Of fewer bytes nothing is said: a text may be as short and hold one.
_LEAST_BINARY = 64
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\f\r\x1b")
_OFFICE_MEMBER = "[Content_Types].xml"


def kind_of(head: bytes) -> str:
    """What a file that begins with `head` seems to be, in words; TEXT for other text.

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
    """The same of an open file, which stands at its beginning afterwards.

    A gzip file is also named for what is packed in it, and a ZIP tells whether it is a document.
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
    """Why a file is not even looked at, in a sentence without its name; empty if it may be.

    `taken` are the kinds that its reader takes, TEXT for plain text; `accepted` says so in words.
    """
    kind = kind_of_file(file)
    return "" if kind in taken else sentence(kind, accepted)


def sentence(kind: str, accepted: str) -> str:
    """
    >>> sentence("a tar archive", "a ZIP archive is accepted")
    'looks like a tar archive; a ZIP archive is accepted'
    """
    return f"looks like {kind}; {accepted}"


def _wide_text(head: bytes) -> str:
    """Text of two or four bytes a character without a mark: Latin letters leave the others NUL."""
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
    """What a gzip file holds; TEXT where it cannot be unpacked, for its reader says why."""
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
