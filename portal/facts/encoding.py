"""From the bytes of a file to text: which encoding it is in, and whether it is text at all."""

import codecs
import re

from portal.facts.errors import RefusedHtml
from portal.facts.file_kinds import BINARY, HEAD, HTML, TEXT, UTF_16, UTF_32, kind_of

# What else a page seems to be is refused at once; bytes of these say themselves what is wrong.
_READ = frozenset({TEXT, HTML, BINARY, UTF_16, UTF_32})
_BYTE_ORDER_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# A declaration may follow EDGAR's envelope and a comment or two.
_DECLARED_WITHIN = 8192
_DECLARATION = re.compile(
    rb"""<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']
      | <meta\s[^>]*?charset\s*=\s*["']?\s*([\w.:-]+)""",
    re.IGNORECASE | re.VERBOSE,
)

# Names that browsers read as windows-1252, as they must: many pages say latin-1 and mean it.
_WESTERN = re.compile(
    r"(us-)?ascii|ansi(_x3\.4-1968)?|iso[-_]?8859-1|iso88591|latin-?1|l1|(cp|ibm)819|"
    r"windows-1252|(x-)?cp1252"
)
# Their bytes are all ASCII, so that they pass for UTF-8.
_SEVEN_BIT = frozenset({"iso-2022-jp", "csiso2022jp"})
_TEXT_ENCODINGS = re.compile(
    r"iso-?8859-\d+|windows-\d+|cp\d+|koi8-[ru]|macintosh|x-mac-roman|gb2312|gbk|gb18030|"
    r"big5(-hkscs)?|shift[_-]jis|(x-)?sjis|euc-(jp|kr)|ks_c_5601-1987|iso-2022-jp|tis-620"
)
_PYTHON_NAMES = {"x-mac-roman": "mac-roman", "x-sjis": "shift_jis", "gb2312": "gbk"}


def decode_html(data: bytes) -> str:
    """The text of an HTML or plain-text file.

    A byte-order mark decides; then UTF-8 when all the bytes are valid UTF-8, whatever is declared,
    since other encodings are practically never valid by chance; then the encoding that the page
    declares (latin-1 and ASCII mean windows-1252, as in browsers). Bytes that are none of these
    are refused rather than guessed: a wrong guess would garble every quote and dash. Raises
    RefusedHtml with code `binary`, `encoding` or `empty`.
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
    """The encoding that the page names first, in lower case, or an empty string."""
    match = _DECLARATION.search(data, 0, _DECLARED_WITHIN)
    return (match[1] or match[2]).decode("ascii").lower() if match else ""


def _python_encoding(declared: str) -> str:
    if _WESTERN.fullmatch(declared):
        return "cp1252"
    if not _TEXT_ENCODINGS.fullmatch(declared):
        reason = f"the page declares the encoding {declared!r}, which is not known here"
        raise RefusedHtml(reason, "encoding")
    name = _PYTHON_NAMES.get(declared, declared)
    try:
        return codecs.lookup(name).name
    except LookupError:
        reason = f"the page declares the encoding {declared!r}, which is not known here"
        raise RefusedHtml(reason, "encoding") from None


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} is not valid {encoding.upper()}, which the page says it is in"
        raise RefusedHtml(reason, "encoding") from None
