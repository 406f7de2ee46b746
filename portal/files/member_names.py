"""The names of files in archives and folders, whichever system wrote them.

ZIP files name their members in UTF-8 if a flag says so. Many tools do not set it, and write UTF-8,
the code page of their country, or backslashes.
"""

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from unicodedata import normalize
from zipfile import ZipInfo

_UTF_8_FLAG = 0x800
_UNICODE_PATH = 0x7075
_CLUTTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
_CLUTTER_FOLDERS = frozenset({"__MACOSX", ".Spotlight-V100", ".Trashes", ".fseventsd"})

# Of other systems' code pages, only what is certainly text in that language is accepted.
_KANA_AND_KANJI = r"\u3005\u3040-\u309f\u30a0-\u30ff\u4e00-\u9fff"
_JAPANESE = re.compile(rf"[\x20-\x7e\u3000-\u303f\uff01-\uff5e{_KANA_AND_KANJI}]*")
_TWO_JAPANESE = re.compile(rf"[{_KANA_AND_KANJI}]{{2}}")
_GB2312 = re.compile(rb"(?:[\x20-\x7e]|[\xa1-\xa3\xb0-\xf7][\xa1-\xfe])*")
_TWO_CHINESE = re.compile(r"[\u4e00-\u9fff]{2}")
_HANGUL = re.compile(r"[\x20-\x7e\uac00-\ud7a3]*")
# The accented characters of code page 437, which ZIP prescribes.
_WESTERN = re.compile("[\x20-\x7eÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜáíóúñÑß]*")


def is_clutter(name: str) -> bool:
    """Whether an operating system added the file to the folder or archive.

    >>> is_clutter("pages/.DS_Store"), is_clutter("pages/._p1.html"), is_clutter("pages/p1.html")
    (True, True, False)
    """
    *folders, last = name.split("/")
    return last in _CLUTTER or last.startswith("._") or not _CLUTTER_FOLDERS.isdisjoint(folders)


def plain_name(name: str) -> str:
    """The name in Unicode form NFC, as ids are. Some systems split accents from characters."""
    return normalize("NFC", name)


def member_names(infos: Sequence[ZipInfo]) -> list[str]:
    """The names of members with forward slashes in Unicode form NFC, in the same order.

    Raises ValueError if the names are in an unknown encoding.
    """
    old = {info.filename: _bytes_of(info) for info in infos if _is_old(info)}
    decode = _decoder(old)
    return [
        plain_name((decode(info.filename) or _extra_name(info) or info.filename).replace("\\", "/"))
        for info in infos
    ]


def _is_old(info: ZipInfo) -> bool:
    return not (info.flag_bits & _UTF_8_FLAG or info.filename.isascii() or _extra_name(info))


def _bytes_of(info: ZipInfo) -> bytes:
    """The bytes of the name, which Python reads as code page 437."""
    return info.orig_filename.encode("cp437")


def _extra_name(info: ZipInfo) -> str:
    """The UTF-8 name in the extra field of Info-ZIP; empty without one."""
    rest = info.extra
    while len(rest) >= 4:
        kind, length = struct.unpack("<HH", rest[:4])
        # Version and checksum of the old name take five bytes.
        if kind == _UNICODE_PATH and length > 5:
            return rest[9 : 4 + length].decode("utf-8", "replace")
        rest = rest[4 + length :]
    return ""


def _decoder(old: Mapping[str, bytes]) -> Callable[[str], str]:
    """Decodes all old names alike; returns an empty string for the others."""
    if not old:
        return lambda _: ""
    for encoding, is_text in (("utf-8", None), ("cp932", _is_japanese), ("gb18030", _is_chinese)):
        try:
            decoded = {name: data.decode(encoding) for name, data in old.items()}
        except UnicodeDecodeError:
            continue
        if is_text is None or is_text("/".join(decoded.values()), b"/".join(old.values())):
            return lambda name: decoded.get(name, "")
    if not _WESTERN.fullmatch("".join(old)):
        raise ValueError(
            "the file names of this ZIP are in an unknown encoding; pack it with a tool that writes"
            " UTF-8 names"
        )
    return lambda _: ""


def _is_japanese(text: str, _: bytes) -> bool:
    return bool(_JAPANESE.fullmatch(text) and _TWO_JAPANESE.search(text))


def _is_chinese(text: str, data: bytes) -> bool:
    """Whether it is in GB 2312, and not just as well Korean."""
    if not _GB2312.fullmatch(data) or not _TWO_CHINESE.search(text):
        return False
    return not _HANGUL.fullmatch(data.decode("cp949", "replace"))
